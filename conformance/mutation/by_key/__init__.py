"""A second legal scheduler, written from the specification of October 2024: one table by key.

In that revision requests and allocations are one list, and the key is the only identity. So this
scheduler keeps a single table: an entry without a node is pending, one with a node is allocated.
There are no running totals: what nodes and queues hold is summed up from the table when needed.

``table`` is that table, ``totals`` sums up, ``queues`` reads the configuration, ``news`` queues
outgoing messages, ``hearing`` and ``reports`` handle the RM's messages, ``lives`` ends entries and
applications, ``rounds`` places pending entries and checks timers, ``service`` serves gRPC from
threads, and ``strategies`` are its optional behaviours. Run it as
``python -m mutation.by_key --listen 127.0.0.1:0``.
"""
