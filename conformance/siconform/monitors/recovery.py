"""Rules about what exists already: its rejection says what and why."""

from siconform.monitors.existing import existing_in
from siconform.monitors.finding import NOTHING_TO_JUDGE, Judge, Judgement, monitors
from siconform.rm.facts import AllocationRejected
from siconform.rm.history import Entry


@monitors("SI-REC-017")
def rejections_of_existing_allocations_are_complete() -> Judge:
    """It names key and application of an allocation the RM reported, and a reason."""
    reported: set[tuple[str, str]] = set()

    def judge(entry: Entry) -> Judgement:
        match entry.content:
            case AllocationRejected(key=key, application=application, reason=reason):
                if (key, application) not in reported:
                    return f"rejection of {key!r} of {application!r}, which the RM did not report"
                return "" if reason.strip() else f"rejection of {key} gives no reason"
            case content:
                reported.update((a.key, a.application) for a in existing_in(content))
        return NOTHING_TO_JUDGE

    return judge
