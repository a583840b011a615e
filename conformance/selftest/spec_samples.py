"""A small specification of the SI, and requirements based on it."""

import hashlib
from dataclasses import replace

from siconform.catalogue import Requirement, Source, catalogue
from siconform.catalogue.texts import normalised
from sispec.model import Spec
from sispec.sources import from_text

REVISION = "2023-12"
TEXT = """\
# Scheduler Interface Spec

## Scheduler Interfaces

```protobuf
syntax = "proto3";
package si.v1;

// What an RM says of its nodes.
message NodeRequest {
  // The nodes. The scheduler must answer for each of them.
  repeated NodeInfo nodes = 1;
  string rmID = 2;
  reserved 7;
}

message NodeInfo {
  // Names the node.
  string nodeID = 1;
  // What is there. It may be left out.
  int64 freeCapacity = 2;
  // What others hold there.
  int64 heldByOthers = 3;
}
```

### Schedulable nodes registration and updates

A node that is known already should be rejected. Nodes come and go.
The RM may register nodes at any time.

### Following are constant of spec

```constants
HostName = "si/hostname"
RackName = "si/rackname"
```
"""
_PATTERN = next(iter(catalogue().values()))


def spec(text: str = TEXT, name: str = REVISION) -> Spec:
    """Return the sample, or a changed one, as a specification of that name."""
    return from_text(name, text)


def edited(old: str, new: str, name: str = "draft.md") -> Spec:
    """Return the sample with one replacement."""
    assert TEXT.count(old) == 1, old
    return spec(TEXT.replace(old, new), name)


def requirement(
    identifier: str, *sources: tuple[str, str], revision: str = REVISION, text: str = "A rule."
) -> Requirement:
    """Return a requirement based on these sentences, each with its place."""
    return replace(
        _PATTERN,
        id=identifier,
        text=text,
        given="",
        when="",
        then="",
        revisions=frozenset({revision}),
        sources=tuple(Source(revision, where, hash_of(sent)) for where, sent in sources),
    )


def hash_of(sentence: str) -> str:
    """Return the hash of a sentence as the catalogue stores it."""
    return hashlib.sha256(normalised(sentence).encode()).hexdigest()[:16]
