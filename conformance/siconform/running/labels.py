"""Allure labels of requirements: id as tag, area as feature, level as severity."""

import sys
from typing import Any

import pytest

from siconform.catalogue import Level, catalogue

_SEVERITY = {Level.MUST: "critical", Level.SHOULD: "normal", Level.MAY: "minor"}


def label(item: pytest.Item, ids: tuple[str, ...]) -> None:
    """Label the running test if Allure results are written."""
    if not getattr(item.config.option, "allure_report_dir", None) or "allure" not in sys.modules:
        return
    import allure  # noqa: PLC0415  # slow to import

    dynamic: Any = allure.dynamic  # untyped
    requirements = [catalogue()[i] for i in ids if i in catalogue()]
    for requirement in requirements:
        dynamic.tag(requirement.id)
        dynamic.label("requirement", requirement.id)
    if requirements:
        first = requirements[0]
        dynamic.feature(first.area)
        dynamic.story(first.title)
        dynamic.label("level", first.level.value)
        dynamic.label("authority", first.authority.value)
        dynamic.severity(_SEVERITY[first.level])
