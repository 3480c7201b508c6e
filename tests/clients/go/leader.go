package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var leaderChecks = []check{
	{"one of two candidates leads, and hands over when it stops", handOver},
	{"a candidate takes over from a leader that is gone", takeOver},
}

func candidate(w *world, lease, name string, release bool, led chan<- string) (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: lease}, Client: w.proto.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: 2 * time.Second, RenewDeadline: 1500 * time.Millisecond, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { led <- name },
			OnStoppedLeading: func() {},
		},
	})
}

func elections(ctx context.Context, w *world, lease string, release bool) error {
	led := make(chan string, 4)
	first, stopFirst := context.WithCancel(ctx)
	defer stopFirst()
	second, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	a, err := candidate(w, lease, "a", release, led)
	if err != nil {
		return err
	}
	b, err := candidate(w, lease, "b", release, led)
	if err != nil {
		return err
	}
	ended := make(chan bool)
	go func() { a.Run(first); close(ended) }()
	if name := <-led; name != "a" {
		return fmt.Errorf("%s leads", name)
	}
	go b.Run(second)
	if err := eventually(ctx, "b sees a", func(context.Context) (bool, error) { return b.GetLeader() == "a", nil }); err != nil {
		return err
	}
	stopFirst()
	<-ended
	select {
	case name := <-led:
		if name != "b" {
			return fmt.Errorf("%s leads", name)
		}
	case <-time.After(20 * time.Second):
		return fmt.Errorf("nobody took over")
	}
	now, err := w.client.CoordinationV1().Leases(w.namespace).Get(ctx, lease, metav1.GetOptions{})
	return all(err, expect(*now.Spec.HolderIdentity == "b" && *now.Spec.LeaseTransitions >= 1, "lease %v", now.Spec))
}

func handOver(ctx context.Context, w *world) error { return elections(ctx, w, "hand-over", true) }

func takeOver(ctx context.Context, w *world) error { return elections(ctx, w, "take-over", false) }
