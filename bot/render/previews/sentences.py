"""What people read about previews of links, and in them."""

from __future__ import annotations

from bot.domain.digest.previews import PullPreview, RangePreview
from bot.domain.risk.assessment import Risk
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.domain.touches.models import MergeTouches, TouchLevel
from bot.render.digest.sentences import format_band, format_outcome_fact
from bot.render.digest.touch_sentences import name_level

SWITCHED_ON = (
    "Links to pull requests and comparisons get a preview here. I stay silent where another app shows one, such "
    "as GitHub's. If no preview comes, ask the bot's admin to run prdigest doctor: the app may lack a permission."
)
SWITCHED_OFF = "Links get no previews here any more."
IS_ON = "Links get previews here. /prdigest previews off ends that."
IS_OFF = "Links get no previews here. /prdigest previews on turns them on."
NOT_IN_CHANNEL = "I'm not in this channel: invite me with /invite, then turn previews on again."
JOIN_FIRST = "Only members of this channel can turn previews on or off: join it first."
_SEPARATOR = " · "


def format_pull_facts(card: PullPreview) -> str:
    """Return the facts of a pull request on one line: state, risk, what became of it, whether it touches."""
    facts = [
        _format_state(card),
        _format_risk(card.risk),
        format_outcome_fact(card.outcome) if card.outcome else "",
        _format_touches(card.profile, card.touches),
    ]
    return _SEPARATOR.join(filter(None, facts))


def format_range_title(card: RangePreview) -> str:
    """Return how many merges a range has."""
    return format_count(card.page.merged, "merge")


def format_range_facts(card: RangePreview) -> str:
    """Return the facts of a range on one line."""
    page = card.page
    taken_back = len(page.stories.taken_back)
    facts = [
        f"{taken_back} taken back" if taken_back else "",
        f"{format_count(len(page.riskiest), 'change')} worth a second look" if page.riskiest else "",
        _format_range_touches(card),
        f"{page.not_summarised} not read yet" if page.not_summarised else "",
    ]
    return _SEPARATOR.join(filter(None, facts)) or "Nothing stands out"


def _format_state(card: PullPreview) -> str:
    if card.merged_on:
        return f"merged {card.merged_on.day} {card.merged_on:%b %Y}"
    return "open" if card.pull.state == "OPEN" else "closed, not merged"


def _format_risk(risk: Risk | None) -> str:
    return format_band(risk, tells_history=False) if risk and risk.may_be_listed else ""


def _format_touches(profile: str, touches: MergeTouches | None) -> str:
    """Return how a merge touches a profile; empty if that is unknown, or without a profile."""
    if touches is None:
        return ""
    level, name = name_level(touches.level), _shorten_name(profile)
    return f"{level} {name}" if touches.level <= TouchLevel.TOUCHES else f"{level} ({name})"


def _format_range_touches(card: RangePreview) -> str:
    """Return how the merges of a range touch a profile: their number, and the strongest."""
    report = card.page.touches
    if report is None:
        return ""
    unread = f", {card.page.unread} not compared yet" if card.page.unread else ""
    name = _shorten_name(report.profile)
    if not report.touching:
        return f"nothing touches {name}{unread}"
    strongest = name_level(report.touching[0].level)
    count = len(report.touching)
    return f"{count} {'touches' if count == 1 else 'touch'} {name} ({strongest}{unread})"


def _shorten_name(name: str) -> str:
    return truncate_text(collapse_lines(name), 40)
