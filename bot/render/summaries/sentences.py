"""What people read about one pull request: in a message, in its window and in a terminal.

The names of the four sections stand with the summary (:mod:`bot.domain.summaries.models`), because the report
and the search use them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import ChangedFile, PullRequest, Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.risk.assessment import BASE_RATE, Risk, RiskBand
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.text.strings import format_count

# key points

RISK_LABEL = "Risk: "
ACTION_LABEL = "May need action: "
FILES_NOT_READ = "not assessed because its files could not be read"
IS_REVERT = "not assessed because it is a revert"


def format_band_rate(band: RiskBand) -> str:
    """Return the rate of repairs in a band and of all changes, and where it was measured."""
    return (
        f"(about 1 in {_invert_percentage(band.repaired)} such changes needed a fix within two weeks, "
        f"average 1 in {_invert_percentage(BASE_RATE)}; measured on vLLM, 2025)"
    )


def _invert_percentage(percentage: int) -> int:
    """Return of how many one is: 5 for 20 %."""
    return round(100 / percentage)


# quotes and files

QUOTES_TITLE = "Found in the diff"
REMOVED = " (removed)"
FILES_TITLE = "Files"
UNNAMED_FILE = "(unnamed)"


def format_more_files(count: int) -> str:
    """Return how many more files there are."""
    return f"and {format_count(count, 'more file', 'more files')}"


def format_changed_file(file: ChangedFile) -> str:
    """Return status and lines of a file, such as ``modified, +1,234 −5``."""  # noqa: RUF002 (a minus)
    return f"{file.status}, {format_lines(file)}"


# facts


def format_size(pull: PullRequest) -> str:
    """Format files and lines, such as ``2 files, +1,234 −5``."""  # noqa: RUF002 (a minus)
    return f"{format_count(pull.changed_files, 'file')}, {format_lines(pull)}"


def format_lines(change: PullRequest | ChangedFile) -> str:
    """Format lines added and deleted, such as ``+1,234 −5``."""  # noqa: RUF002 (a minus)
    return f"+{change.additions:,} −{change.deletions:,}"  # noqa: RUF001 (a minus)


def format_merge_state(pull: PullRequest, zone: tzinfo = UTC) -> str:
    """Format when, in ``zone``, and by whom it was merged, or that it is not."""
    if not pull.is_merged:
        return f"not merged ({pull.state.lower()})"
    return f"merged {pull.merge_time.astimezone(zone):%Y-%m-%d %H:%M %Z} by {pull.merged_by.login}"


def format_coverage(coverage: Coverage) -> str:
    """Return how much of the diff the model saw."""
    return f"diff {coverage}"


# the window

CLOSE_LABEL = "Close"


def format_loading(reference: Reference) -> str:
    """Return that a pull request is being read."""
    return f"Reading {reference.repository}#{reference.number}…"


# shortcuts

_MAX_REPOSITORIES = 10
REFERENCE_TITLE = "Explain a pull request"
REFERENCE_LABEL = "Pull request"
REFERENCE_PLACEHOLDER = "35617, owner/repo#35617 or its web address"
REFERENCE_HINT = "The summary comes as a direct message."
EXPLAIN_LABEL = "Explain"


def format_none_named(repositories: Sequence[Repository]) -> str:
    """Return that a message names no pull request, and of which repositories one counts."""
    names = ", ".join(map(str, repositories[:_MAX_REPOSITORIES]))
    rest = len(repositories) - _MAX_REPOSITORIES
    more = f" and {format_count(rest, 'other', 'others')}" if rest > 0 else ""
    return f"I found no pull request of {names}{more} in that message."


def format_left_out(named: int, left_out: int) -> str:
    """Return how many of the pull requests that a message names are not summarized."""
    return (
        f"That message names {named} pull requests. I summarize the first {named - left_out} and leave out "
        f"{left_out}: ask for them by number."
    )


# the terminal

TERMINAL_QUOTES_TITLE = "Evidence (checked against the diff)"


def format_second_look(risk: Risk) -> str:
    """Return why a pull request is on the list of risky changes."""
    rated = ", no history yet" if risk.without_history else ""
    return f"Worth a second look{rated}: {'; '.join(risk.reasons)}."


def format_terminal_facts(entry: Entry) -> str:
    """Format type, size, author and state on one line."""
    pull = entry.pull
    return (
        f"{entry.summary.type} · {format_count(pull.changed_files, 'file')}, +{pull.additions} "
        f"-{pull.deletions} · "
        f"{pull.author.login}, {format_merge_state(pull)} · diff read: {entry.summary.coverage}"
    )
