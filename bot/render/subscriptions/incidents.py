"""What is wrong with digests, in one message for whoever has to know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from bot.domain.operations.incident import Kind, Trouble
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Element, block, bullets, section, text

_ID = re.compile(r"[CG][A-Z0-9]+")
_MOST = 10
_REASON = 300
_WORDS = {
    Kind.MISSING: "is not posted yet",
    Kind.SKIPPED: "will not be posted",
    Kind.INCOMPLETE: "was posted incomplete",
    Kind.LOST: "was given up",
}


def troubles_post(troubles: Sequence[Trouble]) -> Post:
    """One line for each; those that have ended say how."""
    title = _title(troubles)
    items = [_line(trouble) for trouble in troubles[:_MOST]]
    if len(troubles) > _MOST:
        items.append([text(f"and {len(troubles) - _MOST} more: prdigest doctor lists them")])
    spoken = ". ".join([title, *(f"{trouble.title}: {_WORDS[trouble.kind]}" for trouble in troubles[:3])])
    return Post(
        escape(shorten(one_line(spoken), 800)), (block(section([text(title, bold=True)]), bullets(items)),)
    )


def _title(troubles: Sequence[Trouble]) -> str:
    jobs = sum(trouble.kind is Kind.LOST for trouble in troubles)
    digests = len(troubles) - jobs
    counts = [plural(digests, "digest")] * bool(digests) + [plural(jobs, "job")] * bool(jobs)
    return f"{' and '.join(counts)} {'needs' if len(troubles) == 1 else 'need'} a look"


def _line(trouble: Trouble) -> list[Element]:
    title = text(shorten(one_line(trouble.title), 200), bold=True)
    where = [text(" for "), place(trouble.channel)] if trouble.channel else []
    if trouble.settled:
        return [text("✓ "), title, *where, text(f": {shorten(one_line(trouble.settled), _REASON)}.")]
    reason = shorten(one_line(trouble.reason).rstrip("."), _REASON)
    said = [title, *where, text(f" {_WORDS[trouble.kind]}: {reason}. ")]
    if trouble.retry:
        return [*said, moment(trouble.retry, "Next try "), text(".")]
    return [*said, *([text("There will be no more tries.")] if trouble.kind is Kind.INCOMPLETE else [])]


def place(channel: str) -> Element:
    """A channel by its name, which Slack shows to whoever may see it; it pings nobody."""
    if channel.startswith("D"):
        return text("a direct message")
    # settings may name it otherwise, and then Slack would refuse the message that says so
    return {"type": "channel", "channel_id": channel} if _ID.fullmatch(channel) else text(one_line(channel))


def moment(instant: datetime, lead: str = "") -> Element:
    """An instant as each reader's own clock shows it.

    ``lead`` are the words before it, where it stands in a sentence: Slack begins it with a capital otherwise.
    """
    return {
        "type": "date",
        "timestamp": int(instant.timestamp()),
        "format": f"{lead}{{date_short_pretty}} at {{time}}",
        "fallback": f"{lead}{instant:%Y-%m-%d %H:%M} UTC",
    }
