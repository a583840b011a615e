"""Verdicts on a requirement in a recorded exchange, which shows violations but no conformance."""

from siconform.verdicts import Labelled, Role, Row, Verdict


class TraceOutcome(Labelled):
    """The verdict on a requirement in a recorded exchange, worst first."""

    # fmt: off
    VIOLATED = "violated", Row(
        "violated", "a message, or its absence, violates the requirement",
        Role.BAD, "!", tested=True, bad=True)
    BASELINED = "baselined", Row(
        Verdict.BASELINED.label, "it is violated exactly as recorded in the baseline",
        Role.KNOWN, "~", plural=Verdict.BASELINED.row.plural, tested=True)
    CHALLENGED = "challenged", Row(
        Verdict.CHALLENGED.label, "it is violated, but the requirement or the check is disputed",
        Role.OPEN, "%", tested=True)
    HELD = "held", Row(
        "held", "it held each time that the exchange exercised it",
        Role.GOOD, "#", tested=True)
    NOT_APPLICABLE = "not-applicable", Row(
        Verdict.NOT_APPLICABLE.label, "the scheduler does not offer what the requirement needs",
        Role.NEUTRAL, ".")
    NOT_EXERCISED = "not-exercised", Row(
        "not exercised", "the exchange does not show it",
        Role.NEUTRAL, ".")
    # fmt: on
