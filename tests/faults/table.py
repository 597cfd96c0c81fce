from collections.abc import Sequence

from tests.faults.trial import Outcome

_HEAD = (
    "| part | fault | when | lasts | taken / refused / lost | quiet after | web / worker / store, MB | held |",
    "|---|---|---|---|---|---|---|---|",
)


def format_table(outcomes: Sequence[Outcome], seed: int, seconds: float) -> str:
    """Format a table with a row for each trial, and what did not hold below it.

    Requests were taken, refused with a sentence, or lost before they were acknowledged.
    """
    rows = [_format_row(outcome) for outcome in outcomes]
    held = sum(not outcome.problems and not outcome.skipped for outcome in outcomes)
    skipped = sum(bool(outcome.skipped) for outcome in outcomes)
    summary = f"{held} of {len(outcomes)} held, {skipped} skipped; seed {seed}, {seconds:.0f} s."
    details = [f"- {outcome.name}: {problem}" for outcome in outcomes for problem in outcome.problems]
    details += [f"- excused: {outcome.name}: {problem}" for outcome in outcomes for problem in outcome.excused]
    return "\n".join((*_HEAD, *rows, "", summary, *([""] if details else []), *details, ""))


def _format_row(outcome: Outcome) -> str:
    verdict = f"skipped: {outcome.skipped}" if outcome.skipped else "no" if outcome.problems else "yes"
    counts = f"{outcome.accepted} / {outcome.refused} / {outcome.lost}"
    cells = (outcome.part, outcome.fault, outcome.when, outcome.lasts, counts, f"{outcome.quiet:.0f} s")
    return f"| {' | '.join((*cells, outcome.growth, verdict))} |"
