"""The manifests of docs/past-one-machine.md: valid for Kubernetes, with options that exist."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # has no types
import nox
import pytest
from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]  # has no types
from manifests import VERSIONS, check, documents, pod_of
from siconform.cli import main

CHECKOUT = Path(__file__).parents[2]
LOAD = CHECKOUT / "fixtures" / "load"
MANIFESTS = LOAD / "manifests"
RESOURCES = {
    f"{file.stem} {one['kind']} {one['metadata']['name']}": one
    for file in sorted(MANIFESTS.glob("*.yaml"))
    for one in documents(file)
}
WORKLOADS = {name: one for name, one in RESOURCES.items() if pod_of(one)}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", RESOURCES)
def test_resource_is_valid(name: str, version: str) -> None:
    check(RESOURCES[name], version)


def test_misspelt_field_is_invalid() -> None:
    (name,) = (name for name in RESOURCES if "Job siconform-explore" in name)
    wrong = {**RESOURCES[name], "spec": {**RESOURCES[name]["spec"], "backofflimit": 0}}

    with pytest.raises(kubernetes_validate.ValidationError, match="backofflimit"):
        check(wrong, VERSIONS[0])


@pytest.mark.parametrize("name", WORKLOADS)
def test_pod_is_restricted_and_uses_the_one_image(name: str) -> None:
    for container in pod_of(WORKLOADS[name])["containers"]:
        assert container["image"] == "registry.example/siconform-scale:0.1.0"
        assert container["securityContext"]["runAsNonRoot"]
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("name", WORKLOADS)
def test_selector_and_labels_agree(name: str) -> None:
    spec = WORKLOADS[name]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec.get("selector", {}).get("matchLabels", labels) == labels


def test_services_select_pods_with_that_port() -> None:
    services = {n: one for n, one in RESOURCES.items() if one["kind"] == "Service"}
    assert services
    for name, service in services.items():
        stem, app = name.split()[0], service["spec"]["selector"]["app"]
        (pod,) = (
            pod_of(one)
            for other, one in WORKLOADS.items()
            if other.startswith(stem)
            and one["spec"]["template"]["metadata"]["labels"]["app"] == app
        )
        ports = {port["containerPort"] for c in pod["containers"] for port in c["ports"]}
        assert {port["port"] for port in service["spec"]["ports"]} <= ports


def test_job_of_the_kit_has_options_that_exist() -> None:
    (words,) = (words for words in commands() if words[0] == "siconform")
    command, *options = words[1:]
    context = main.commands[command].make_context(command, options)

    assert context.params["workers"] == "dask:dask-scheduler:8786"
    assert "explore Service dask-scheduler" in RESOURCES


def test_options_of_locust_are_those_of_the_locustfile() -> None:
    declared = set(re.findall(r'"(--[a-z-]+)"', (LOAD / "locustfile.py").read_text("utf-8")))
    of_locust = set(re.findall(r'"(--[a-z-]+)"', (LOAD / "run.py").read_text("utf-8")))
    for words in commands():
        if words[0] == "locust":
            given = {word for word in words if word.startswith("--")}
            assert given <= declared | of_locust


def test_image_has_the_tested_versions_and_the_files() -> None:
    with (MANIFESTS / "Containerfile").open("rb") as opened:
        structure = DockerfileParser(fileobj=opened).structure
    groups = nox.project.load_toml(CHECKOUT / "pyproject.toml")["dependency-groups"]
    steps = {one["instruction"]: one["value"] for one in structure}

    for wanted in (*groups["dask"], *groups["load"]):
        assert wanted in steps["RUN"]
    *copied, _ = steps["COPY"].split()
    assert all((CHECKOUT / name).is_file() for name in copied)


def commands() -> list[list[Any]]:
    return [
        [*container["command"], *container.get("args", ())]
        for one in WORKLOADS.values()
        for container in pod_of(one)["containers"]
    ]
