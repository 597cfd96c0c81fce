"""The tool that finds where a team uses a name, and the text about what touches its code.

Only names, paths and the lines that use upstream go to a model, and nothing of a profile that forbids that.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.render.digest.touches import name_level
from bot.services.questions.tools.reading_session import ReadingSession
from bot.services.questions.tools.schemas import ProfileArguments
from impact.profile.models import Profile, Use
from impact.profile.search import find_uses
from impact.touches.models import MergeTouches, TouchReport

_MAX_TEXT_LENGTH = 240
_MAX_TOUCHES = 5
_MAX_PLACES = 3
# characters of the text about a day
_MAX_REPORT_LENGTH = 8_000


class ProfileTools:
    """The tool over the profile of a thread."""

    def __init__(self, session: ReadingSession, profile: Profile) -> None:
        self._session = session
        self._profile = profile

    def find_uses(self, arguments: ProfileArguments) -> str:
        """Find the uses of a name, or in a file."""
        profile, query = self._profile, arguments.name.strip()
        uses = find_uses(profile, query)
        self._session.provenance.add_profile_search(profile.name, query)
        head = f"{format_count(len(uses), 'use')} of {len(profile.uses):,} in the profile {profile.name}"
        scanned = f"as scanned on {profile.scanned_at:%Y-%m-%d}; its lines can't be cited, name file and line"
        lines = (f"{head}, {scanned}:", *map(format_use, uses))
        return self._session.limit_lines(lines, "give a longer name", f"uses of {query}")


def format_use(use: Use) -> str:
    """Return the line of a use: its place, what it does with which name, and its text."""
    text = f": {_shorten(use.text)}" if use.text else ""
    line = f":{use.line}" if use.line else ""
    return f"{_shorten(use.path)}{line} {use.kind} {_shorten(use.name)}{text}"


def format_report(session: ReadingSession, report: TouchReport) -> str:
    """Return what touches a profile in the days of a thread, as code judged it."""
    head = (
        f"What touches the profile {report.profile}, judged by code: {len(report.touching)} of "
        f"{format_count(report.merges, 'merge')}, against {format_count(report.uses, 'use')}"
    )
    lines = (head, *(line for merge in report.touching for line in _format_merge(merge)))
    return session.limit_lines(lines, "ask about one of them", "hits", _MAX_REPORT_LENGTH)


def _format_merge(merge: MergeTouches) -> Iterator[str]:
    """Yield the lines of a merge."""
    yield f"#{merge.number} {name_level(merge.level)}"
    for touch in merge.touches[:_MAX_TOUCHES]:
        change, others = touch.change, len(touch.uses) - _MAX_PLACES
        places = "; ".join(map(format_use, touch.uses[:_MAX_PLACES])) + (f"; {others} more" if others > 0 else "")
        yield f"- {_shorten(change.name)} {change.kind}: {_shorten(touch.reason)}. Used at {places}"


def _shorten(text: str) -> str:
    return truncate_text(redact_text(collapse_lines(text)), _MAX_TEXT_LENGTH)
