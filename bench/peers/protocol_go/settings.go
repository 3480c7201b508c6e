// Reads the settings of a peer from its environment.

package protocol

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Settings are what the harness asks of a peer.
type Settings struct {
	// Reconcile is what a reconcile does: noop, status, owned or delay.
	Reconcile string
	// Objects and Revision are the first expectation.
	Objects, Revision int32
	Workers           int
	// Namespace is the only one that is watched; empty for all.
	Namespace string
	// Port serves health; 0 for none.
	Port int
	// LeaseNamespace and LeaseName are the Lease of the leader election; empty for none.
	LeaseNamespace, LeaseName string
}

// SettingsFromEnv reads the variables that start with BENCH_.
func SettingsFromEnv() (Settings, error) {
	var problem error
	number := func(name string, otherwise int64) int64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		value, err := strconv.ParseInt(text, 10, 32)
		if err != nil && problem == nil {
			problem = fmt.Errorf("%s must be an integer: current value is %q", name, text)
		}
		return value
	}
	settings := Settings{
		Reconcile: os.Getenv("BENCH_RECONCILE"),
		Objects:   int32(number("BENCH_OBJECTS", 1)),
		Revision:  int32(number("BENCH_REVISION", 1)),
		Workers:   int(number("BENCH_WORKERS", 16)),
		Namespace: os.Getenv("BENCH_NAMESPACE"),
		Port:      int(number("BENCH_PORT", 0)),
	}
	switch settings.Reconcile {
	case "":
		settings.Reconcile = "noop"
	case "noop", "status", "owned", "delay":
	default:
		return settings, fmt.Errorf("BENCH_RECONCILE must be noop, status, owned or delay: current value is %q", settings.Reconcile)
	}
	if lease := os.Getenv("BENCH_LEASE"); lease != "" {
		var found bool
		if settings.LeaseNamespace, settings.LeaseName, found = strings.Cut(lease, "/"); !found {
			return settings, fmt.Errorf("BENCH_LEASE must be NAMESPACE/NAME: current value is %q", lease)
		}
	}
	return settings, problem
}
