"""--fail-on: whether a SHOULD decides the verdict and the exit code, too."""

from collections.abc import Callable
from typing import Any

import pytest
from siconform.catalogue import Level
from siconform.config.option_values import BadOption
from siconform.config.options import settings_from
from siconform.verdicts import Verdict

from .conftest import FinishedRun

A_SHOULD_FAILS = (
    '@requirement("SI-NODE-005")\ndef test_one(target): raise ConformanceFailure("no")\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): pass\n'
)


@pytest.mark.parametrize(
    ("options", "level", "code", "verdict"),
    [
        ((), "MUST", 0, "CONFORMANT"),
        (("--fail-on", "MUST"), "MUST", 0, "CONFORMANT"),
        (("--fail-on", "should"), "SHOULD", 1, "NON-CONFORMANT"),
    ],
)
def test_fail_on_should_fails_the_run(
    conformance: Callable[..., FinishedRun],
    options: tuple[str, ...],
    level: str,
    code: int,
    verdict: str,
) -> None:
    run = conformance(A_SHOULD_FAILS, *options)

    assert (run.code, run.results["verdict"]) == (code, verdict)
    assert run.results["conditions"]["fail_on"] == level
    assert run.verdict("SI-NODE-005") == "fail"
    assert f"{Verdict.FAIL.label.upper()}  SI-NODE-005" in run.out
    assert ("NON-CONFORMANT: 1 SHOULD fail" in run.out) is (level == "SHOULD")


def test_invalid_level_is_rejected() -> None:
    for wrong in ("MAY", "all"):
        with pytest.raises(BadOption, match=f'--fail-on "{wrong}" must be MUST or SHOULD'):
            _level("--fail-on", wrong)


def _level(*options: Any) -> Level:
    given = dict(zip(options[::2], options[1::2], strict=True))
    return settings_from(given.get).fail_on
