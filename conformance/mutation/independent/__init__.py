"""A small legal scheduler in a design of its own, written from the texts of 2023-12 alone.

It is made to be unlike the reference and unlike yunikorn-core wherever the texts leave freedom,
so that a kit that judges it finds out what the kit took for granted. What it does with a freedom
is a *manner*, named in ``manners``; every one can be switched on and off.

``state`` holds what is known of one RM, ``outbox`` what is to be told, ``nodes``, ``applications``,
``asks`` and ``releases`` take what the RM says, ``gangs`` and ``lives`` know how gangs and
applications come and go, ``passes`` places asks, ``timers`` ends what lasted too long, and
``service`` speaks gRPC. Run it as ``python -m mutation.independent --listen 127.0.0.1:0``.
"""
