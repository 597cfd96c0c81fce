"""What people read about what touches their code."""

from __future__ import annotations

from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.text.words import truncate_words
from bot.domain.touches.decisions import TouchVerdict
from bot.render.digest.sentences import format_more, format_outcome
from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.profile.models import UseKind
from impact.touches.models import TouchLevel, TouchReport

_LEVELS = {
    TouchLevel.NO: "does not touch",
    TouchLevel.TOUCHES: "touches",
    TouchLevel.MAY_BREAK: "may break us",
    TouchLevel.BREAKS: "breaks us",
}
# what callers see of a name besides it; of all other classes that is a type
_SHAPES = {
    ContractClass.FUNCTION: "other signature",
    ContractClass.CLASS: "other signature",
    ContractClass.METHOD: "other signature",
    ContractClass.OP: "other signature",
    ContractClass.FLAG: "other values",
}
_USES = {UseKind.NAMED: "names it in a string", UseKind.INHERITED: "uses it as inherited"}
_VERDICTS = {TouchVerdict.OURS: "ours to do", TouchVerdict.NOT_US: "not us", TouchVerdict.DONE: "done"}
# between what changed upstream and where the team uses it
OURS = ". Ours: "
LINE_LABEL = "line"
ALSO_AT = ", also at "
IN_THREAD = ", in the thread"
BY_DEPRECATIONS = ", with /prdigest deprecations"


def name_level(level: TouchLevel) -> str:
    """Return a level in words."""
    return _LEVELS[level]


def describe_use(kind: UseKind) -> str:
    """Return what a line does with the name before it, such as ``overrides it`` or ``passes the flag``."""
    return _USES.get(kind, str(kind) if " the " in kind else f"{kind} it")


def format_title(profile: str) -> str:
    """Return the title of the section."""
    return f"Touches {_shorten_profile(profile)}"


def format_count_note(report: TouchReport) -> str:
    """Return how many of the merges touch, and how many files could not be checked."""
    return f" ({len(report.touching):,} of {format_count(report.merges, 'merge')}{_format_unread(report)})"


def format_nothing(report: TouchReport) -> str:
    """Return that nothing touches, what was checked, and what could not be."""
    checked = f"{format_count(report.merges, 'merge')}, {format_count(report.uses, 'use')} checked"
    return f"Nothing touches {_shorten_profile(report.profile)} ({checked}{_format_unread(report)})."


def format_unknown_hits(profile: str, reason: str) -> str:
    """Return, as a clause, that nobody knows what touches; ``reason`` is a sentence."""
    return f"what touches {profile} is not known: {reason.rstrip('.')}"


def _format_unread(report: TouchReport) -> str:
    """Return how many files could not be read, empty if all were."""
    count = len(report.unread)
    return f"; {format_count(count, 'changed file')} could not be read" if count else ""


def _shorten_profile(profile: str) -> str:
    return truncate_words(truncate_text(collapse_lines(profile), 40), 1)


def format_more_hits(count: int, elsewhere: str) -> str:
    """Return how many more merges touch; ``elsewhere`` says where they are."""
    return format_more(count, elsewhere)


def format_other_places(count: int) -> str:
    """Return at how many more places of the team's code a merge touches."""
    return f" (and {format_count(count, 'more place')})"


def format_outcome_start(outcome: MergeOutcome) -> str:
    """Return the beginning of a note such as `` (reverted after 1.4 h by #9)``; the number follows."""
    return f" ({format_outcome(outcome)} "


# the thread

NEWS_LABEL = "Deprecated: "
NEWS_TITLE = "Deprecated, and used by us"
MOVED_TITLE = "Since your code moved: "
UNREAD_TITLE = "Could not be read: "


def describe_move(count: int, *, has_begun: bool) -> str:
    """Return what became of earlier merges when the team's code moved, after their names."""
    if has_begun:
        return "now touches you" if count == 1 else "now touch you"
    return "no longer does" if count == 1 else "no longer do"


def format_hits_part(profile: str) -> str:
    """Return the text of a notification about the hits."""
    return f"What touches {_shorten_profile(profile)}"


def format_hidden_hits(count: int, profile: str) -> str:
    """Return how many hits have no line, and how to see them."""
    return f"{format_more(count)}: /prdigest touches lists all that touches {_shorten_profile(profile)}"


def format_kind(change: ContractChange) -> str:
    """Return what happened to a name, as the middle of a line."""
    if change.kind is ChangeKind.SIGNATURE:
        return _SHAPES.get(change.subject, "other type")
    return "other default" if change.kind is ChangeKind.DEFAULT else str(change.kind)


def format_class_title(subject: ContractClass, count: int) -> str:
    """Return the title of a class of contract changes, with their number."""
    return f"{str(subject).capitalize()} · {format_count(count, 'contract change')}"


# what became of a hit

FORGOTTEN_PERSON = "somebody"
SAID_DECISION = " said: "


TASK_LABEL = "Task for an agent"


def name_verdict(verdict: TouchVerdict) -> str:
    """Return a verdict in words."""
    return _VERDICTS[verdict]


def label_verdict(verdict: TouchVerdict) -> str:
    """Return the label of the button for a verdict."""
    return name_verdict(verdict).capitalize()


def format_noted(verdict: TouchVerdict) -> str:
    """Return that a verdict was recorded, for who gave it."""
    return f"Noted: {name_verdict(verdict)}. Digests and lists show it in a moment."
