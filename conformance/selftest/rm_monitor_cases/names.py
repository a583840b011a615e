"""Histories for the monitors of ``rm_names``."""

from dataclasses import replace

from selftest.rm_monitor_cases.case import APP, ASK, NODE, RmCase
from siconform.protocol.requests import Action, NodeRequest

LABELLED = replace(NODE, attributes={"si/hostname": "n", "own/zone": "1", "zone": "2"})

CASES = (
    RmCase(
        "well_known_names_are_exact",
        [LABELLED, replace(ASK, tags={"kubernetes.io/meta/podName": "p"})],
        [replace(NODE, capacity={"gpu": 1}, attributes={"zone": "2"}), APP],
        [
            (
                "'si/hostName' is meant to be 'si/hostname'",
                [replace(NODE, attributes={"si/hostName": ""})],
            ),
            (
                "'SI/rack_name' is meant to be 'si/rackname'",
                [replace(NODE, attributes={"SI/rack_name": ""})],
            ),
            ("'Kubernetes.io/' is meant to be", [replace(ASK, tags={"Kubernetes.io/x/y": ""})]),
            (
                "'LABEL/' is meant to be 'label/'",
                [replace(ASK, tags={"kubernetes.io/LABEL/y": ""})],
            ),
        ],
    ),
    RmCase(
        "tag_keys_have_a_domain",
        [replace(ASK, tags={"acme.com/group/name": "", "acme.com/name": "", "creationTime": "1"})],
        [ASK],
        [
            ("the tag 'name' of k", [replace(ASK, tags={"name": ""})]),
            ("the tag 'acme.com/' of k", [replace(ASK, tags={"acme.com/": ""})]),
            ("the tag 'label/x' of k", [replace(ASK, tags={"label/x": ""})]),
        ],
    ),
    RmCase(
        "memory_and_cpu_have_their_names",
        [NODE, replace(NODE, capacity={"memory": 1, "vcore": 1, "cpu": 1, "gpu-memory": 1})],
        [NodeRequest("n", Action.UPDATE, {"cpu": 1}), NodeRequest("n", Action.CREATE)],
        [
            ("node n reports vcore as 'cpu'", [replace(NODE, capacity={"memory": 1, "cpu": 1})]),
            (
                "node n reports memory as 'Memory'",
                [replace(NODE, capacity={"Memory": 1, "vcore": 1})],
            ),
        ],
    ),
)
