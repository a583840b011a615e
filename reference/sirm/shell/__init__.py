"""The shell: gRPC, time and processes around the pure core."""
