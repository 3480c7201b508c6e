// Command limit_go does what any operator must, and nothing else: it lists, watches, decodes and counts, without a framework.
// It is what the others are measured against. This file runs it until the harness ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"tend/bench/protocol"
)

func main() {
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "Cannot run the peer:", err)
		os.Exit(1)
	}
}

func run() error {
	settings, err := protocol.SettingsFromEnv()
	if err != nil {
		return err
	}
	if settings.Reconcile != "noop" || settings.LeaseName != "" {
		return errors.New("BENCH_RECONCILE must be noop, and BENCH_LEASE absent")
	}
	server, err := serverFromKubeconfig(os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	recorder := protocol.NewRecorder(os.Stdout, settings)
	go func() {
		recorder.Obey(os.Stdin)
		stop()
	}()
	source := newSource(server, settings.Namespace, func(widget *Widget) {
		at := recorder.Started()
		recorder.Read(at, widget.Spec.Index, widget.Spec.Revision, widget.Spec.Sent)
		recorder.Finished(widget.Spec.Index, widget.Spec.Revision, nil)
	})
	if settings.Port != 0 {
		go serveHealth(settings.Port, &source.listed)
	}
	return source.run(ctx)
}

// serveHealth tells whether the peer runs, and whether it has listed.
func serveHealth(port int, listed *atomic.Bool) {
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/readyz", func(response http.ResponseWriter, _ *http.Request) {
		if !listed.Load() {
			response.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", port), nil))
}
