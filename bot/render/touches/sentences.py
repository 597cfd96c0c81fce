"""What people read about what touches their code, and about what broke it."""

from __future__ import annotations

from bot.domain.text.strings import format_count

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
