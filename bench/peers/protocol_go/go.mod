module tend/bench/protocol

go 1.26.0
