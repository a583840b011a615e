"""A small legal scheduler of independent design, written from the 2023-12 specification alone.

It differs from the reference and from yunikorn-core wherever the specification allows it, to
reveal what the kit takes for granted. Each choice is a *strategy*, listed in ``strategies``: it can
be switched on and off.

``state`` holds the state of one RM, ``outbox`` its outgoing messages; ``nodes``, ``applications``,
``asks`` and ``releases`` handle requests of the RM, ``gangs`` and ``lives`` the lifecycle of gangs
and applications, ``passes`` places asks, ``timers`` ends what has timed out, and ``service``
serves gRPC. Run it as ``python -m mutation.independent --listen 127.0.0.1:0``.
"""
