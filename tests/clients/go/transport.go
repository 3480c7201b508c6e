package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var transportChecks = []check{
	{"connections are kept alive", keptAlive},
	{"answers are in the format that was asked for", formats},
	{"two hundred watches at once see one change", manyWatches},
	{"large objects are taken, and bodies over the limit are refused", largeBodies},
	{"a body in chunks is read", chunked},
	{"large answers are compressed and small ones are not", compressed},
}

func keptAlive(ctx context.Context, w *world) error {
	var made, reused atomic.Int32
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if info.Reused {
			reused.Add(1)
		} else {
			made.Add(1)
		}
	}}
	for range 20 {
		if _, err := w.client.CoreV1().Namespaces().Get(httptrace.WithClientTrace(ctx, trace), w.namespace, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return expect(made.Load() <= 1 && reused.Load() >= 19, "%d connections, %d reused", made.Load(), reused.Load())
}

func raw(ctx context.Context, w *world, method, path string, body io.Reader, headers map[string]string) (*http.Response, []byte, error) {
	transport, err := rest.TransportFor(w.config)
	if err != nil {
		return nil, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(w.config.Host, "/")+path, body)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response, content, err
}

func formats(ctx context.Context, w *world) error {
	prefix := []byte{'k', '8', 's', 0}
	for _, each := range []struct {
		path, accept, want string
		code               int
	}{
		{"/api/v1/namespaces/" + w.namespace, protobuf, protobuf, 200},
		{"/api/v1/namespaces/" + w.namespace, protobuf + ", application/json", protobuf, 200},
		{"/api/v1/namespaces/" + w.namespace, "application/json, " + protobuf, "application/json", 200},
		{"/api/v1/namespaces/no-such-one", protobuf, protobuf, 404},
		{"/api/v1/namespaces?limit=1", protobuf, protobuf, 200},
		{"/api/v1/namespaces?watch=1&timeoutSeconds=1", protobuf, protobuf + ";stream=watch", 200},
		{"/api/v1/namespaces?limit=1", protobuf + ";as=Table;g=meta.k8s.io;v=v1, application/json", "application/json", 200},
		{"/apis/" + group(w) + "/v1/gadgets", protobuf, protobuf, 406},
		{"/apis/" + group(w) + "/v1/gadgets", protobuf + ", application/json", "application/json", 200},
		{"/apis/" + group(w) + "/v1/gadgets", protobuf + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", protobuf, 200},
		{"/apis/apps/v1", protobuf, protobuf, 200},
	} {
		response, content, err := raw(ctx, w, "GET", each.path, nil, map[string]string{"Accept": each.accept})
		if err != nil {
			return err
		}
		kind := response.Header.Get("Content-Type")
		if err := expect(response.StatusCode == each.code && kind == each.want, "%s as %s: %d %s", each.path, each.accept, response.StatusCode, kind); err != nil {
			return err
		}
		if kind == protobuf {
			if err := expect(bytes.HasPrefix(content, prefix), "%s: %q", each.path, content[:4]); err != nil {
				return err
			}
		}
	}
	return nil
}

func manyWatches(ctx context.Context, w *world) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config := rest.CopyConfig(w.config)
	config.QPS, config.Burst = -1, 0
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := client.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var seen atomic.Int32
	problems := make(chan error, 200)
	ready := make(chan bool, 200)
	for number := range 200 {
		source := kubernetes.Interface(client)
		if number%2 == 1 {
			source = w.proto
		}
		group.Go(func() {
			watcher, err := source.CoreV1().ConfigMaps(w.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=famous"})
			ready <- true
			if err != nil {
				problems <- err
				return
			}
			defer watcher.Stop()
			event, err := next(ctx, watcher)
			if err != nil {
				problems <- err
			} else if event.Object.(*corev1.ConfigMap).Data["k"] == "v" {
				seen.Add(1)
			}
		})
	}
	for range 200 {
		<-ready
	}
	if _, err := client.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("famous", map[string]string{"k": "v"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	group.Wait()
	close(problems)
	for problem := range problems {
		return fmt.Errorf("%d saw it: %w", seen.Load(), problem)
	}
	return expect(seen.Load() == 200, "%d saw it", seen.Load())
}

func largeBodies(ctx context.Context, w *world) error {
	maps := w.proto.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, configMap("large", map[string]string{"k": strings.Repeat("x", 1_000_000)}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	read, err := w.client.CoreV1().ConfigMaps(w.namespace).Get(ctx, "large", metav1.GetOptions{})
	if err != nil {
		return err
	}
	_, invalid := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("larger", map[string]string{"k": strings.Repeat("x", 2_900_000)}), metav1.CreateOptions{})
	_, large := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("largest", map[string]string{"k": strings.Repeat("x", 3_200_000)}), metav1.CreateOptions{})
	return all(expect(len(made.Data["k"]) == 1_000_000 && read.Data["k"] == made.Data["k"], "%d bytes came back", len(read.Data["k"])),
		refused(invalid, "invalid", apierrors.IsInvalid), refused(large, "too large", apierrors.IsRequestEntityTooLargeError))
}

// slowly hides the length of a body.
type slowly struct{ io.Reader }

func chunked(ctx context.Context, w *world) error {
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"chunked"},"data":{"k":"` + strings.Repeat("y", 200_000) + `"}}`
	reader, writer := io.Pipe()
	go func() {
		for start := 0; start < len(body); start += 50_000 {
			writer.Write([]byte(body[start:min(start+50_000, len(body))]))
			time.Sleep(5 * time.Millisecond)
		}
		writer.Close()
	}()
	response, content, err := raw(ctx, w, "POST", "/api/v1/namespaces/"+w.namespace+"/configmaps", slowly{reader}, map[string]string{"Content-Type": "application/json"})
	return all(err, expect(response != nil && response.StatusCode == 201 && len(content) > 200_000, "answer %v", response))
}

func compressed(ctx context.Context, w *world) error {
	headers := map[string]string{"Accept": "application/json", "Accept-Encoding": "gzip"}
	path := "/api/v1/namespaces/" + w.namespace + "/configmaps/"
	large, content, err := raw(ctx, w, "GET", path+"chunked", nil, headers)
	if err != nil {
		return err
	}
	if err := expect(large.Header.Get("Content-Encoding") == "gzip" && len(content) < 50_000, "%q, %d bytes", large.Header.Get("Content-Encoding"), len(content)); err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return err
	}
	small, _, err := raw(ctx, w, "GET", path+"unchanged", nil, headers)
	if err != nil {
		return err
	}
	plain, content, err := raw(ctx, w, "GET", path+"chunked", nil, map[string]string{"Accept-Encoding": "identity"})
	return all(err, expect(bytes.Contains(text, []byte(`"yyyy`)), "not the object"), expect(small.Header.Get("Content-Encoding") == "", "small ones are compressed"),
		expect(plain.Header.Get("Content-Encoding") == "" && len(content) > 200_000, "compressed though not asked for"))
}
