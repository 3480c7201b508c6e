// Command clients does the work of clients written in Go against a Kubernetes API server, and tells for each check whether
// it holds. It does not know which server that is.
//
//	clients [-without-authorization] [-only TEXT] KUBECONFIG
//
// It prints one line for each check, "ok NAME" or "FAILED NAME: REASON", and at the end "N passed, N failed".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// world is what the checks share: one server, asked in several ways, and a namespace.
type world struct {
	config     *rest.Config
	client     kubernetes.Interface
	proto      kubernetes.Interface
	extensions apiextensions.Interface
	dynamic    dynamic.Interface
	metadata   metadata.Interface
	namespace  string
	// authorizes is false for a server that lets everybody do everything.
	authorizes bool
}

// check is one thing that must hold.
type check struct {
	name string
	run  func(context.Context, *world) error
}

func main() {
	open := flag.Bool("without-authorization", false, "everybody may do everything")
	only := flag.String("only", "", "run the checks whose names contain this")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	klog.SetOutput(io.Discard)
	ctrl.SetLogger(logr.Discard())
	failed, err := run(context.Background(), flag.Arg(0), *only, !*open)
	if err != nil {
		fmt.Println("FAILED", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

func newWorld(ctx context.Context, kubeconfig string) (*world, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 1000, 1000
	binary := rest.CopyConfig(config)
	binary.ContentType, binary.AcceptContentTypes = protobuf, protobuf
	w := &world{config: config}
	if w.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if w.proto, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if w.extensions, err = apiextensions.NewForConfig(config); err != nil {
		return nil, err
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if w.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "clients-go-"}}
	if namespace, err = w.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	w.namespace = namespace.Name
	return w, nil
}

func run(ctx context.Context, kubeconfig, only string, authorizes bool) (failed int, err error) {
	w, err := newWorld(ctx, kubeconfig)
	if err != nil {
		return 0, err
	}
	w.authorizes = authorizes
	passed := 0
	var all []check
	for _, part := range [][]check{typedChecks, patchChecks, subresourceChecks, accessChecks, customChecks, informerChecks,
		eventChecks, leaderChecks, discoveryChecks, transportChecks, controllerChecks} {
		all = append(all, part...)
	}
	for _, each := range all {
		if !strings.Contains(each.name, only) {
			continue
		}
		if err := attempt(ctx, w, each); err == nil {
			passed++
			fmt.Println("ok", each.name)
		} else {
			failed++
			fmt.Printf("FAILED %s: %s\n", each.name, strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	for _, plural := range []string{"gadgets", "websites"} {
		_ = w.extensions.ApiextensionsV1().CustomResourceDefinitions().Delete(ctx, plural+"."+group(w), metav1.DeleteOptions{})
	}
	err = w.client.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{})
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	return failed, err
}

// attempt runs a check within a minute; a panic is a failure.
func attempt(ctx context.Context, w *world, each check) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("panic: %v", problem)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return each.run(ctx, w)
}

// expect is an error unless the condition holds.
func expect(condition bool, format string, arguments ...any) error {
	if condition {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}

// all is the first error.
func all(problems ...error) error {
	for _, problem := range problems {
		if problem != nil {
			return problem
		}
	}
	return nil
}

// eventually waits until a condition holds.
func eventually(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, condition)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// refused is an error unless another one is of a kind.
func refused(err error, what string, is func(error) bool) error {
	if err == nil {
		return errors.New("not refused: must be " + what)
	}
	if !is(err) {
		return fmt.Errorf("must be %s: %w", what, err)
	}
	return nil
}

func pointer[T any](value T) *T { return &value }
