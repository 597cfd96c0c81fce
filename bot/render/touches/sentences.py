"""What people read about lists of hits and about what became of them."""

from __future__ import annotations

from bot.domain.text.strings import format_count
from bot.domain.touches.decisions import LevelScore, TouchVerdict
from bot.render.digest.touch_sentences import name_level

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
    return " " + ", ".join(verdicts)


def format_score_title(profile: str) -> str:
    """Return the title of the score."""
    return f"What became of the hits of {profile}"


def format_level_score(score: LevelScore) -> str:
    """Return what became of the hits of one level."""
    if not score.shown:
        return f"{name_level(score.level)}: none shown"
    parts = [f"{score.ours} ours to do", f"{score.done} done", f"{score.not_us} not us", f"{score.open} open"]
    share = f"; {score.right} of {score.judged} were right" if score.judged else ""
    return f"{name_level(score.level)}: {format_count(score.shown, 'hit')} ({', '.join(parts)}){share}"
