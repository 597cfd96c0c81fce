"""What people read about lists of hits, about what became of them, and about what broke their code."""

from __future__ import annotations

from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.text.strings import format_count
from bot.domain.touches.decisions import LevelScore, TouchVerdict
from bot.render.digest.touches import name_level, name_verdict
from impact.touches.models import TouchLevel

DECISIONS_TITLE = "What people said: "
IN_SHORTER_LISTS = "ask for fewer days"
NOTHING_SHOWN = "No hit of this profile was shown yet."
HOW_TO_SCORE = "A hit counts once, with what was said about it last."


def format_list_title(*, profile: str, name: str, days: str) -> str:
    """Return the title of a list."""
    return f"What touches {profile} · {name} · {days}"


def format_no_merges() -> str:
    """Return that nothing was merged."""
    return "Nothing was merged on these days."


def format_verdicts(verdicts: tuple[TouchVerdict, ...]) -> str:
    """Return what was said about the hits of a merge."""
    return " " + ", ".join(map(name_verdict, verdicts))


def format_score_title(profile: str) -> str:
    """Return the title of the score."""
    return f"What became of the hits of {profile}"


def format_level_score(score: LevelScore) -> str:
    """Return what became of the hits of one level."""
    if not score.shown:
        return f"{name_level(score.level)}: none shown"
    counts = {TouchVerdict.OURS: score.ours, TouchVerdict.DONE: score.done, TouchVerdict.NOT_US: score.not_us}
    parts = [*(f"{count} {name_verdict(verdict)}" for verdict, count in counts.items()), f"{score.open} open"]
    share = f"; {score.right} of {score.judged} were right" if score.judged else ""
    return f"{name_level(score.level)}: {format_count(score.shown, 'hit')} ({', '.join(parts)}){share}"


# the way to a later commit

# what several changes do, after their number
COUNTED_LEVELS = {
    TouchLevel.BREAKS: "break us",
    TouchLevel.MAY_BREAK: name_level(TouchLevel.MAY_BREAK),
    TouchLevel.TOUCHES: "touch us",
}


def name_change_level(level: TouchLevel) -> str:
    """Return what one change does."""
    return "touches us" if level is TouchLevel.TOUCHES else name_level(level)


def format_free_way(profile: str) -> str:
    """Return that nothing is to do; ``profile`` is escaped as its reader needs it."""
    return f"Nothing on the way touches what {profile} uses."


# tasks for coding agents

TASK_NOTE = "Copy this text into your coding agent. It was built from facts without a model, and is sent nowhere."
TASK_CUT = "It was too long: its end is missing."


def format_preparing(reference: Reference) -> str:
    """Return that a task is being built."""
    return f"Preparing the task for {reference}…"


def format_no_touch(profile: str, reference: Reference, *, is_unread: bool) -> str:
    """Return that there is nothing to do, as after the team's code moved, or that files could not be read."""
    if is_unread:
        return f"I could not read all changed files of {reference}: try again in a few minutes."
    return f"{reference} does not touch {profile} any more: its code has changed since."


def format_hidden_profile(profile: str) -> str:
    """Return that a profile keeps its lines from models."""
    return f"The profile {profile} keeps its lines from models (explain: off), so there is no task for an agent."


def format_other_upstream(profile: str, upstream: Repository) -> str:
    """Return that a profile is about another repository."""
    return f"The profile {profile} is about {upstream}: press the button below one of its hits."


# suspects

NO_NAMES = (
    "I see no name in this error: paste its last line, such as `ImportError: cannot import name 'x' from 'a.b'`."
)
NOTHING_FITS_HINT = (
    "Perhaps the cause is older, or the error says too little: choose an earlier start, or paste the whole "
    "traceback."
)


def format_suspect_title(*, name: str, since: str) -> str:
    """Return the title of the list of suspects."""
    return f"What broke us? · {name} · since {since}"


def format_suspect_count(*, suspects: int, merges: int, since: str, until: str) -> str:
    """Return how many merges explain the error, of how many between which ends."""
    among = f"{format_count(merges, 'merge')} ({since}..{until})"
    return (
        f"{format_count(suspects, 'suspect')} among {among}."
        if suspects
        else f"None of {among} explains this error."
    )


def format_searched(error: str) -> str:
    """Return which error was looked for."""
    return f"Looked for: {error}"


def format_reason(reason: str) -> str:
    """Return a clause about a merge as a sentence."""
    return f"It {reason}."


def format_reverted(number: int) -> str:
    """Return that a merge was reverted within the range."""
    return f"reverted by #{number}"


def format_points(score: float) -> str:
    """Return how surely a merge is the cause."""
    return f"{score:.0f} of 100 points"


def format_omitted(count: int) -> str:
    """Return how many suspects are not listed."""
    return f"{format_count(count, 'more suspect')} with fewer points."


def format_unread_merges(count: int) -> str:
    """Return how many merges have files that could not be read."""
    return f"{format_count(count, 'merge')} with files that could not be read."
