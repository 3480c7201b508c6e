// Command controller_runtime is the operator of the benchmark on controller-runtime, as its scaffold would have it. This file
// sets up the manager and runs it until the harness ends.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"tend/bench/protocol"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "Cannot run the operator:", err)
		os.Exit(1)
	}
}

func run() error {
	settings, err := protocol.SettingsFromEnv()
	if err != nil {
		return err
	}
	// Its rate limit is off.
	config := ctrl.GetConfigOrDie()
	m, err := ctrl.NewManager(config, options(settings))
	if err != nil {
		return err
	}
	recorder := protocol.NewRecorder(os.Stdout, settings)
	reconciler := &WidgetReconciler{Client: m.GetClient(), Scheme: m.GetScheme(), mode: settings.Reconcile, recorder: recorder}
	if err := reconciler.SetupWithManager(m, settings.Workers); err != nil {
		return err
	}
	if err := m.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctrl.SetupSignalHandler())
	go func() {
		recorder.Obey(os.Stdin)
		stop()
	}()
	return m.Start(ctx)
}

func options(settings protocol.Settings) ctrl.Options {
	scheme := runtime.NewScheme()
	clientgoscheme.AddToScheme(scheme)
	AddToScheme(scheme)
	options := ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	}
	if settings.Port != 0 {
		options.HealthProbeBindAddress = fmt.Sprintf("127.0.0.1:%d", settings.Port)
		// The manager serves metrics on a port of their own: any that is free.
		options.Metrics.BindAddress = "127.0.0.1:0"
	}
	if settings.Namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{settings.Namespace: {}}
	}
	if settings.LeaseName != "" {
		options.LeaderElection = true
		options.LeaderElectionNamespace = settings.LeaseNamespace
		options.LeaderElectionID = settings.LeaseName
		options.LeaderElectionReleaseOnCancel = true
	}
	return options
}
