"""A specification as long as the real one, in the form authors of the SI write it.

It is our `si.proto` of 2024-10 cut into code blocks, with rules, constants, a drawing and a Go API
in our own words around them.
"""

from functools import cache
from pathlib import Path

_SI = Path(__file__).parents[2] / "proto" / "si" / "2024-10" / "si.proto"
_BEFORE = """\
<!--
 Licensed under the Apache License, Version 2.0; use it only as that says.
-->

# Scheduler Interface Spec

## Objective

What a resource manager (RM) and a scheduler say to each other. More is in
[the guide](https://example.org/guide).

## Scheduler Interfaces

"""
_AFTER = """
### API Interface

```golang
package api

type SchedulerAPI interface {
	// Registers an RM.
	RegisterResourceManager(request *si.RegisterResourceManagerRequest, callback ResourceManagerCallback) (*si.RegisterResourceManagerResponse, error)

	// Takes nodes and what happens to them.
	UpdateNode(request *si.NodeRequest) error
}

type ResourceManagerCallback interface {
	// Tells what became of nodes.
	UpdateNode(response *si.NodeResponse) error
}
```

### Schedulable nodes registration and updates

A node that is known already must be rejected. The RM may add nodes at any time. The scheduler
should answer in the order of the requests.

State transition of node:

```
  +-----------+   DRAIN_NODE   +----------+
  |schedulable|--------------->| draining |
  +-----------+                +----------+
```

### Release previously allocated resources

A release by the RM must be confirmed. The scheduler will keep the room until then.

### Following are constant of spec

```constants
// Names of resources
const (
	Memory   = "memory"
	CPU      = "vcore"
	HostName = "si.io/hostname"
	RackName = "si.io/rackname"
)
```
"""  # noqa: E501  # a signature is one line there


@cache
def author_text() -> str:
    """Return the whole specification, as long as a real one."""
    schema = _SI.read_text("utf-8").partition("\n// project's.")[2].partition("\n")[2]
    pieces = schema.replace("\n}\n\n", "\n}\n\0").split("\0")
    blocks = (f"```protobuf\n{piece.strip()}\n```\n" for piece in pieces)
    return f"{_BEFORE}{chr(10).join(blocks)}{_AFTER}"


def edited_text(*replaced: tuple[str, str]) -> str:
    """Return it with each first string, which must occur once, replaced by the second."""
    text = author_text()
    for before, after in replaced:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text
