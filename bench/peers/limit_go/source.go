// Lists widgets once and watches them from there, decoding each as it comes.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const pause = 200 * time.Millisecond

// Source hands over each widget that the API server tells of, in its order, and keeps none.
type Source struct {
	server  *Server
	path    string
	changed func(*Widget)
	// version is the resource version to watch from; empty when a list is needed.
	version string
	listed  atomic.Bool
}

// newSource reads one namespace, or all.
func newSource(server *Server, namespace string, changed func(*Widget)) *Source {
	path := "/apis/bench.example.com/v1/widgets"
	if namespace != "" {
		path = "/apis/bench.example.com/v1/namespaces/" + namespace + "/widgets"
	}
	return &Source{server: server, path: path, changed: changed}
}

// run reads until the context is done.
func (s *Source) run(ctx context.Context) error {
	for {
		err := s.next(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if refused := (Refused{}); errors.As(err, &refused) && refused.status == http.StatusGone {
			s.version = ""
		} else if err != nil && !errors.Is(err, io.EOF) {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}

// next lists, or watches until the watch ends.
func (s *Source) next(ctx context.Context) error {
	if s.version == "" {
		return s.list(ctx)
	}
	return s.watch(ctx)
}

// list hands over what is there, in one answer from the API server's cache.
func (s *Source) list(ctx context.Context) error {
	response, err := s.server.get(ctx, s.path+"?resourceVersion=0")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	if err := enter(decoder, '{'); err != nil {
		return err
	}
	var metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		switch key {
		case "items":
			err = s.items(decoder)
		case "metadata":
			err = decoder.Decode(&metadata)
		default:
			err = decoder.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	s.version = metadata.ResourceVersion
	s.listed.Store(true)
	return nil
}

func (s *Source) items(decoder *json.Decoder) error {
	if err := enter(decoder, '['); err != nil {
		return err
	}
	for decoder.More() {
		var widget Widget
		if err := decoder.Decode(&widget); err != nil {
			return err
		}
		s.changed(&widget)
	}
	return enter(decoder, ']')
}

// enter reads a brace or a bracket.
func enter(decoder *json.Decoder, expected json.Delim) error {
	token, err := decoder.Token()
	if err == nil && token != expected {
		return fmt.Errorf("a list has %v where %v must be", token, expected)
	}
	return err
}

// watch hands over changes from the last version that was seen.
func (s *Source) watch(ctx context.Context) error {
	response, err := s.server.get(ctx, s.path+"?watch=1&allowWatchBookmarks=true&resourceVersion="+s.version)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	for {
		var event Event
		err := decoder.Decode(&event)
		// An error comes with a Status, whose text for a status does not fit a widget: its code is decoded all the same.
		if event.Type == "ERROR" {
			return Refused{event.Object.Code}
		}
		if err != nil {
			return err
		}
		if event.Type == "ADDED" || event.Type == "MODIFIED" {
			s.changed(&event.Object)
		}
		s.version = event.Object.Metadata.ResourceVersion
	}
}
