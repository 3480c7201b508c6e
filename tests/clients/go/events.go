package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

var eventChecks = []check{
	{"a recorder of core events counts what repeats", coreEvents},
	{"a recorder of events.k8s.io makes a series of what repeats", seriesEvents},
}

func subject(w *world, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace, UID: "0-1"},
	}
}

func coreEvents(ctx context.Context, w *world) error {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: w.proto.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "clients"})
	for range 3 {
		recorder.Eventf(subject(w, "core"), corev1.EventTypeNormal, "Repeated", "said %d times", 3)
	}
	return eventually(ctx, "the event is counted", func(ctx context.Context) (bool, error) {
		list, err := w.client.CoreV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Repeated,involvedObject.name=core"})
		if err != nil {
			return false, err
		}
		if len(list.Items) > 1 {
			return false, fmt.Errorf("%d events", len(list.Items))
		}
		return len(list.Items) == 1 && list.Items[0].Count == 3 && list.Items[0].Message == "said 3 times", nil
	})
}

func seriesEvents(ctx context.Context, w *world) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: w.proto.EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	recorder := broadcaster.NewRecorder(scheme.Scheme, "example.com/clients")
	for range 3 {
		recorder.Eventf(subject(w, "series"), nil, corev1.EventTypeWarning, "Repeated", "Trying", "it happens %s", "again")
	}
	find := func(ctx context.Context) (*eventsv1.Event, error) {
		list, err := w.client.EventsV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "regarding.name=series"})
		if err != nil || len(list.Items) != 1 {
			return nil, err
		}
		return &list.Items[0], nil
	}
	if err := eventually(ctx, "the event has a series", func(ctx context.Context) (bool, error) {
		event, err := find(ctx)
		return event != nil && event.Series != nil && event.Series.Count >= 2, err
	}); err != nil {
		return err
	}
	event, err := find(ctx)
	if err != nil {
		return err
	}
	old, err := w.client.CoreV1().Events(w.namespace).Get(ctx, event.Name, metav1.GetOptions{})
	return all(err, expect(event.Note == "it happens again" && event.Action == "Trying" && event.ReportingController == "example.com/clients" &&
		old.Message == event.Note && old.InvolvedObject.Name == "series", "event %v", event))
}
