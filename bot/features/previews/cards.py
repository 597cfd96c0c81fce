"""Links that get a preview, what their cards say, and how they look. Nothing here asks anybody."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import TypeAlias

from bot.errors import UsageError
from bot.features.digest.since import SincePage
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.risk import Risk
from bot.features.merges.summary import MAX_CLAIM_LENGTH
from bot.features.merges.view import format_band, format_outcome_fact
from bot.features.touches.lines import name_level
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.blocks import (
    Block,
    Element,
    make_block,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.text import format_count
from impact.coverage import COMPLETE, Coverage
from impact.repository import Repository
from impact.source.models import is_hash, is_tag
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import MergeTouches, TouchLevel, TouchReport

# the address of a comparison has two names of up to a hundred characters; nobody pastes a longer one by hand
MAX_LINK_LENGTH = 1_000
_MAX_HEADLINE, _MAX_FACTS = MAX_CLAIM_LENGTH, 300
_MAX_REASON = 8  # words
_REPOSITORY = r"/([\w.-]{1,100}/[\w.-]{1,100})"
_REST = r"(?:[/?#].*)?"
_PULL = re.compile(rf"{_REPOSITORY}/pull/([1-9]\d{{0,8}}){_REST}", re.ASCII)
_END = r"[\w+-](?:[\w+-]|\.(?!\.)){0,99}"
_COMPARE = re.compile(rf"{_REPOSITORY}/compare/({_END})\.{{2,3}}({_END}){_REST}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The commits of a repository after ``start`` up to ``end``: hashes, their beginnings, or tags."""

    repository: Repository
    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.repository} {self.start}..{self.end}"


Target: TypeAlias = Reference | CommitRange


def parse_link(link: str, repositories: AllowedRepositories) -> Target | None:
    """Return what a link of a message is about, None if it gets no preview.

    Only addresses that begin with that of GitHub's pages count: no other scheme, host, port or user, and nothing
    encoded in what is read of them. The rest of the address is ignored. Branches get no preview.
    """
    # Slack writes some characters of its messages as entities
    address = unescape(link)
    if len(link) > MAX_LINK_LENGTH or not address.startswith(f"{repositories.web}/"):
        return None
    path = address.removeprefix(repositories.web)
    try:
        if match := _PULL.fullmatch(path):
            return Reference(repositories.require_known(Repository.parse(match[1])), int(match[2]))
        match = _COMPARE.fullmatch(path)
        if match and all(is_hash(name) or is_tag(name) for name in match.group(2, 3)):
            return CommitRange(repositories.require_known(Repository.parse(match[1])), match[2], match[3])
    except UsageError:
        pass
    return None


def compute_fingerprint(target: Target) -> str:
    """Return a short text that two links share only if they are about the same."""
    return hashlib.sha256(str(target).lower().encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class PullCard:
    """A pull request: its headline if it was summarized before, its risk, and what became of it.

    ``merged_on`` is the date of its merge in the bot's time zone, None if it is not merged. ``touches`` is what it
    means for ``profile``. ``coverage`` says what could not be read: without its files there is no ``risk``.
    """

    pull: PullRequest
    merged_on: dt.date | None = None
    headline: str = ""
    risk: Risk | None = None
    outcome: MergeOutcome | None = None
    profile: str = ""
    touches: MergeTouches | None = None
    coverage: Coverage = COMPLETE

    def render(self) -> tuple[Block, ...]:
        pull, risk = self.pull, self.risk
        facts = [
            self.coverage.leave_out_reasons(_MAX_REASON).explain_gaps(
                is_empty=risk is None and self.touches is None
            ),
            self._describe_state(),
            format_band(risk, tells_history=pull.is_merged) if risk and risk.may_be_listed else "",
            format_outcome_fact(self.outcome) if self.outcome else "",
            self._describe_touches(),
        ]
        headline = truncate_text(collapse_lines(self.headline or pull.title), _MAX_HEADLINE)
        number = make_link(pull.url, f"{pull.repository}#{pull.number}", bold=True)
        return _render_card([number, make_text(" "), *make_prose(headline, {}, _MAX_HEADLINE)], facts)

    def _describe_state(self) -> str:
        if self.merged_on:
            return f"merged {self.merged_on.day} {self.merged_on:%b %Y}"
        return "open" if self.pull.state == "OPEN" else "closed, not merged"

    def _describe_touches(self) -> str:
        if self.touches is None:
            return ""
        level, name = name_level(self.touches.level), _shorten_name(self.profile)
        return f"{level} {name}" if self.touches.level <= TouchLevel.TOUCHES else f"{level} ({name})"


@dataclass(frozen=True, slots=True)
class RangeCard:
    """The merges of a range, by the names of its two ends. ``url`` is the address of its page."""

    start: str
    end: str
    url: str
    page: SincePage

    def render(self) -> tuple[Block, ...]:
        page, taken_back = self.page, len(self.page.stories.taken_back)
        facts = [
            page.listed.explain_gaps(),
            f"{taken_back} reverted" if taken_back else "",
            f"{format_count(len(page.riskiest), 'change')} among the riskiest" if page.riskiest else "",
            *(_describe_touches(page.touches) if page.touches else ()),
        ]
        name = truncate_text(collapse_lines(page.name), 60)
        ends = make_link(self.url, f"{name} {self.start}…{self.end}", bold=True)
        count = page.listed.label(lambda _: f" {format_count(page.merged, 'merge')}")
        return _render_card([ends, *([make_text(count)] if count else [])], facts)


def _describe_touches(report: TouchReport) -> list[str]:
    name = _shorten_name(report.profile)

    def show(merges: Sequence[MergeTouches]) -> Iterator[str]:
        count = len(merges)
        yield f"{count} {'touches' if count == 1 else 'touch'} {name} ({name_level(merges[0].level)})"

    if not report.touching.coverage.is_complete:
        return report.touching.render_below(show)
    return report.touching.render(str, show, f"nothing touches {name}")


def _render_card(title: list[Element], facts: Iterable[str]) -> tuple[Block, ...]:
    """Text from outside is only text, and the only address is that of the link's own page."""
    line = " · ".join(filter(None, facts)) or "Nothing stands out"
    return make_block(make_section(title)), make_context(truncate_text(line, _MAX_FACTS))


def _shorten_name(name: str) -> str:
    return truncate_text(collapse_lines(name), 40)
