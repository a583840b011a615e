"""A second legal scheduler, written from the text of October 2024: all it knows is a table by key.

In that text requests and allocations are one list, and a key is all the identity there is. So this
one keeps a single table: an entry without node waits, one with a node is there. Nothing is counted
as it happens; what a node or a queue holds is added up from the table whenever it matters.

``table`` is that table, ``totals`` adds up, ``queues`` reads the configuration, ``news`` is what is
to be told, ``hearing`` and ``reports`` take what the RM says, ``lives`` ends what ends, ``rounds``
places what waits and looks at the clock, ``service`` speaks gRPC from threads, and ``manners`` are
the freedoms it can use. Run it as ``python -m mutation.by_key --listen 127.0.0.1:0``.
"""
