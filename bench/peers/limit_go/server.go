// Sends requests to the API server that a kubeconfig names.

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Server is an API server.
type Server struct {
	url       string
	tokenFile string
	client    *http.Client
}

// Refused is an answer that is not 200.
type Refused struct {
	status int
}

func (r Refused) Error() string {
	return fmt.Sprintf("the API server answered with status %d", r.status)
}

// serverFromKubeconfig takes the first cluster and the first user of a kubeconfig, which name a file with the certificate of the
// authority and a file with the token.
func serverFromKubeconfig(path string) (*Server, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string `yaml:"server"`
				Authority string `yaml:"certificate-authority"`
			} `yaml:"cluster"`
		} `yaml:"clusters"`
		Users []struct {
			User struct {
				TokenFile string `yaml:"tokenFile"`
			} `yaml:"user"`
		} `yaml:"users"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	if len(config.Clusters) == 0 || len(config.Users) == 0 {
		return nil, fmt.Errorf("%s must have a cluster and a user", path)
	}
	cluster := config.Clusters[0].Cluster
	authority, err := os.ReadFile(cluster.Authority)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &Server{
		url:       cluster.Server,
		tokenFile: config.Users[0].User.TokenFile,
		client:    &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true}},
	}, nil
}

// get asks for a path. The caller closes the answer's body.
func (s *Server) get(ctx context.Context, path string) (*http.Response, error) {
	token, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Accept", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, Refused{response.StatusCode}
	}
	return response, nil
}
