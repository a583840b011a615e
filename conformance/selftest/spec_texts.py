"""Small specifications for the tests of `sispec`."""

from pathlib import Path

SMALL = """\
<!-- You may not use this file except as the licence says. -->

# Scheduler Interface Spec

Nodes must be known. See [the guide](https://example.org/must) for more.

```protobuf
syntax = "proto3";
package si.v1;
import "google/protobuf/descriptor.proto";
extend google.protobuf.FieldOptions { bool si_secret = 1059; }
```

## RPC Interface

```protobuf
service Scheduler {
  // Nodes that are told.
  rpc UpdateNode(stream NodeRequest)
    returns (stream NodeResponse) { }
}
```

### API Interface

```golang
package api

type SchedulerAPI interface {
	// Nodes that are told,
	// one by one.
	UpdateNode(request *si.NodeRequest) error

	// Registers
	Register(request *si.Request,
		callback Callback) (*si.Response, error)
	Stop()
}

type Callback interface {
	Told(response *si.NodeResponse)
}
```

State transition of node:

```
  +-----+   must   +------+
  |ready|--------->|drains|
  +-----+          +------+
```

The scheduler will reject
what it does not know. A node should be told once:
- nodes of others are ignored
- an unknown one may not be updated

```protobuf
// A node, {as told}.
message NodeRequest {
  // Stands apart and must be read.

  // The id, which must be set;
  // an empty one is an error.
  string nodeID = 1;
  enum Action {
    UNKNOWN = 0; // never sent
    CREATE = 1;
  }
  Action action = 2; // ignored on updates
  oneof how { int32 count = 4; bool all = 5; }
  reserved 3;
  reserved "rack";
}
message NodeResponse {}
```

### Following are constant of spec

```constants
// Constants for nodes
const (
	HostName = "si/hostname"  // its name
	Domain   = "example.org/"
)
```
"""
"""A text with all that a text has: every kind of block, a drawing, rules, a licence and a link."""


def without_barriers(text: str) -> str:
    """Return a specification as copied from a web page: without block and heading marks."""
    lines = [line for line in text.split("\n") if not line.startswith(("```", "<!--"))]
    body = "\n".join(line.lstrip("#").lstrip() if line.startswith("#") else line for line in lines)
    return f"Skip to content\n\nHistory: you must be signed in\n{body}"


def line_of(text: str, start: str) -> int:
    """Return the number of the first line that starts with these words, after any prefix."""
    lines = text.split("\n")
    return next(at for at, line in enumerate(lines, 1) if line.strip().startswith(start))


def written(folder: Path, name: str, text: str) -> str:
    """Write a specification to a file and return its path."""
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)
