// Defines the kind Widget, as far as the API server's JSON is decoded.

package main

// Widget is the kind that the benchmark reconciles.
type Widget struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		Index    int32   `json:"index"`
		Revision int32   `json:"revision"`
		Sent     float64 `json:"sent"`
		Title    string  `json:"title"`
		Image    string  `json:"image"`
		Replicas int32   `json:"replicas"`
		Ports    []struct {
			Name string `json:"name"`
			Port int32  `json:"port"`
		} `json:"ports"`
		Env []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"env"`
		Selector map[string]string `json:"selector"`
	} `json:"spec"`
	Status struct {
		Observed int32  `json:"observed"`
		Message  string `json:"message"`
	} `json:"status"`
	// Code says why a watch has ended: it is there when the API server sends a Status in place of a widget.
	Code int `json:"code"`
}

// Event is one line of a watch.
type Event struct {
	Type   string `json:"type"`
	Object Widget `json:"object"`
}
