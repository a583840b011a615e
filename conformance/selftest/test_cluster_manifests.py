"""The manifests for a cluster with a tap: valid for Kubernetes, and with options that exist."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]  # has no types
from manifests import VERSIONS, check, documents, pod_of
from siconform.baseline import read_baseline
from siconform.cli import main

CHECKOUT = Path(__file__).parents[2]
MANIFESTS = CHECKOUT / "fixtures" / "rms" / "kubernetes" / "manifests"
TAP = CHECKOUT / "fixtures" / "targets" / "tap"
WHOLE = ("trace-volume.yaml", "check-trace-job.yaml", "record.yaml")
PATCHES = ("scheduler-patch.yaml", "keep-trace-patch.yaml")

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: yunikorn-scheduler, labels: {app: yunikorn}}
spec:
  replicas: 1
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
  selector: {matchLabels: {app: yunikorn}}
  template:
    metadata: {labels: {app: yunikorn}}
    spec:
      serviceAccountName: yunikorn-admin
      containers:
        - name: yunikorn-scheduler-k8s
          image: apache/yunikorn:scheduler-1.8.0
          env:
            - {name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
          ports: [{containerPort: 9080}]
        - name: yunikorn-scheduler-web
          image: apache/yunikorn:web-1.8.0
"""
"""What the manifests and the Helm chart of yunikorn-k8shim install, shortened."""


def merged(old: Any, new: Any) -> Any:
    """Return a strategic merge: lists of named objects by name, null removes."""
    if isinstance(old, dict) and isinstance(new, dict):
        kept = {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
        return {key: value for key, value in kept.items() if value is not None}
    if isinstance(old, list) and isinstance(new, list) and "name" in (new[0] if new else {}):
        found = {one["name"]: one for one in old}
        for one in new:
            found[one["name"]] = merged(found.get(one["name"]), one)
        return list(found.values())
    return new


def patched(*patches: str) -> Any:
    deployment = yaml.safe_load(DEPLOYMENT)
    for name in patches:
        (patch,) = documents(MANIFESTS / name)
        deployment = merged(deployment, patch)
    return deployment


def resources() -> dict[str, dict[str, Any]]:
    whole = {f"{name} {one['kind']}": one for name in WHOLE for one in documents(MANIFESTS / name)}
    return {
        **whole,
        "with a tap": patched(PATCHES[0]),
        "with a tap and a volume": patched(*PATCHES),
    }


each_resource = pytest.mark.parametrize("name", resources())


def containers(resource: dict[str, Any]) -> list[dict[str, Any]]:
    pod = pod_of(resource)
    return [*pod.get("initContainers", ()), *pod.get("containers", ())]


@each_resource
@pytest.mark.parametrize("version", VERSIONS)
def test_resource_is_valid(name: str, version: str) -> None:
    check(resources()[name], version)


def test_every_manifest_is_checked() -> None:
    assert {file.name for file in MANIFESTS.glob("*.yaml")} == {*WHOLE, *PATCHES}


@each_resource
def test_mounted_volumes_exist(name: str) -> None:
    resource = resources()[name]
    volumes = {one["name"] for one in pod_of(resource).get("volumes", ())}
    for container in containers(resource):
        assert {one["name"] for one in container.get("volumeMounts", ())} <= volumes


@each_resource
def test_commands_of_the_kit_have_these_options(name: str) -> None:
    for container in containers(resources()[name]):
        if "siconform" in container["image"] and "tap" not in container["image"]:
            command, *words = container["args"]
            main.commands[command].make_context(command, words)  # raises for unknown options


def test_patch_keeps_the_rest_of_the_deployment() -> None:
    first, second = patched(PATCHES[0])["spec"]["template"]["spec"]["containers"]

    assert (first["name"], second["name"]) == ("yunikorn-scheduler-k8s", "yunikorn-scheduler-web")
    assert first["ports"] == [{"containerPort": 9080}]
    assert "NAMESPACE" in {one["name"] for one in first["env"]}


def test_volume_replaces_the_temporary_one() -> None:
    spec = patched(*PATCHES)["spec"]

    assert spec["strategy"] == {"type": "Recreate"}
    (trace,) = [one for one in spec["template"]["spec"]["volumes"] if one["name"] == "trace"]
    assert trace == {"name": "trace", "persistentVolumeClaim": {"claimName": "yunikorn-trace"}}


def test_variables_are_those_of_the_tap() -> None:
    known = re.findall(
        r'^\t\{"([A-Z_]+)", func', (TAP / "options.go").read_text("utf-8"), re.MULTILINE
    )
    first = patched(PATCHES[0])["spec"]["template"]["spec"]["containers"][0]

    used = {one["name"] for one in first["env"] if one["name"] != "NAMESPACE"}

    assert used <= {f"SICONFORM_TAP_{name}" for name in known}


def test_user_of_the_image_may_read_and_write_the_record() -> None:
    parsed = DockerfileParser(fileobj=io.BytesIO((MANIFESTS / "Containerfile").read_bytes()))
    user = [one["value"] for one in parsed.structure if one["instruction"] == "USER"]
    spec = patched(PATCHES[0])["spec"]["template"]["spec"]

    context = spec["initContainers"][0]["securityContext"]
    assert user == [f"{context['runAsUser']}:{context['runAsGroup']}"]
    assert spec["securityContext"]["fsGroup"] == context["runAsGroup"]


def test_known_deviations_are_those_of_the_baselines() -> None:
    """They differ only in the part of the message, which a trace words otherwise."""
    fixtures = CHECKOUT / "fixtures"
    baselines = (
        fixtures / "targets" / "yunikorn-core" / "baselines" / "1.8.0.yaml",
        fixtures / "rms" / "kubernetes" / "baselines" / "1.8.0.yaml",
    )
    explained = {
        (one.requirement, one.reason) for file in baselines for one in read_baseline(file).entries
    }

    known = read_baseline(fixtures / "rms" / "kubernetes" / "known-1.8.0.yaml").entries

    assert {(one.requirement, one.reason) for one in known} <= explained
    assert len(known) == 3
