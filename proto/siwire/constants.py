"""The constants of the SI, named as in the specification (section "constant of spec").

No constant ever changed its value; ``KNOWN_IN`` maps a revision to the values it defines.
"""

from collections.abc import Mapping
from typing import Final

# Node attributes
ARCH: Final = "si/arch"
HOST_NAME: Final = "si/hostname"
RACK_NAME: Final = "si/rackname"
OS: Final = "si/os"
INSTANCE_TYPE: Final = "si/instance-type"
FAILURE_DOMAIN_ZONE: Final = "si/zone"
FAILURE_DOMAIN_REGION: Final = "si/region"
LOCAL_IMAGES: Final = "si/local-images"
NODE_PARTITION: Final = "si/node-partition"
NODE_READY_ATTRIBUTE: Final = "ready"

# Allocation attributes
APPLICATION_ID: Final = "si/application-id"
CONTAINER_IMAGE: Final = "si/container-image"
CONTAINER_PORTS: Final = "si/container-ports"

# Allocation tags: domain, optional group, key
DOMAIN_K8S: Final = "kubernetes.io/"
DOMAIN_YUNIKORN: Final = "yunikorn.apache.org/"
DOMAIN_YUNIKORN_INTERNAL: Final = "internal.yunikorn.apache.org/"
GROUP_META: Final = "meta/"
GROUP_LABEL: Final = "label/"
GROUP_ANNOTATION: Final = "annotation/"
KEY_POD_NAME: Final = "podName"
KEY_NAMESPACE: Final = "namespace"
KEY_REQUIRED_NODE: Final = "requiredNode"
KEY_ALLOW_PREEMPTION: Final = "allowPreemption"
CREATION_TIME: Final = "creationTime"
FOREIGN: Final = "foreign"
ALLOC_TYPE_STATIC: Final = "static"
ALLOC_TYPE_DEFAULT: Final = "default"

# Resource types
MEMORY: Final = "memory"
CPU: Final = "vcore"

# Application tags
APP_TAG_NAMESPACE_RESOURCE_QUOTA: Final = "namespace.resourcequota"
APP_TAG_NAMESPACE_RESOURCE_GUARANTEED: Final = "namespace.resourceguaranteed"
APP_TAG_NAMESPACE_RESOURCE_MAX_APPS: Final = "namespace.resourcemaxapps"
APP_TAG_STATE_AWARE_DISABLE: Final = "application.stateaware.disable"
APP_TAG_CREATE_FORCE: Final = "application.create.force"

_2021_02: Final = frozenset(
    {
        *(ARCH, HOST_NAME, RACK_NAME, OS, INSTANCE_TYPE),
        *(FAILURE_DOMAIN_ZONE, FAILURE_DOMAIN_REGION, LOCAL_IMAGES, NODE_PARTITION),
        *(APPLICATION_ID, CONTAINER_IMAGE, CONTAINER_PORTS),
        *(DOMAIN_K8S, DOMAIN_YUNIKORN, GROUP_META, GROUP_LABEL, GROUP_ANNOTATION),
        *(KEY_POD_NAME, KEY_NAMESPACE),
    }
)
_2023_04: Final = _2021_02 | {
    *(KEY_REQUIRED_NODE, KEY_ALLOW_PREEMPTION, CREATION_TIME, MEMORY, CPU),
    *(APP_TAG_NAMESPACE_RESOURCE_QUOTA, APP_TAG_STATE_AWARE_DISABLE, NODE_READY_ATTRIBUTE),
}
_2023_08: Final = _2023_04 | {APP_TAG_NAMESPACE_RESOURCE_GUARANTEED, APP_TAG_CREATE_FORCE}
_2023_12: Final = _2023_08 - {KEY_ALLOW_PREEMPTION}
_2024_10: Final = (_2023_12 - {APP_TAG_STATE_AWARE_DISABLE, NODE_READY_ATTRIBUTE}) | {
    *(DOMAIN_YUNIKORN_INTERNAL, FOREIGN, ALLOC_TYPE_STATIC, ALLOC_TYPE_DEFAULT),
    APP_TAG_NAMESPACE_RESOURCE_MAX_APPS,
}

KNOWN_IN: Final[Mapping[str, frozenset[str]]] = {
    "2021-02": _2021_02,
    "2023-04": _2023_04,
    "2023-08": _2023_08,
    "2023-12": _2023_12,
    "2024-10": _2024_10,
    "2026-04": _2024_10,
}
