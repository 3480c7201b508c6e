module tend/bench/limit_go

go 1.26.0

require (
	go.yaml.in/yaml/v3 v3.0.4
	tend/bench/protocol v0.0.0
)

replace tend/bench/protocol => ../protocol_go
