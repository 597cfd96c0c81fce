"""Open pull requests of upstream that would break a team's code, most certain first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.app import App
from bot.errors import UsageError
from bot.features.merges.view import keep_title, make_list, render_lines, render_numbers
from bot.features.touches.contracts import OPEN_THINGS, read_open_contracts
from bot.features.touches.lines import (
    WIDE_TOUCHES,
    make_sentence,
    render_action,
    render_number,
    render_touch,
    shorten_profile,
)
from bot.features.touches.service import find_entry
from bot.platform.github.open_pulls import OpenPulls
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import (
    MAX_CHARACTERS,
    Block,
    Element,
    Post,
    choose_fitting_blocks,
    count_characters,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_header,
    make_text,
)
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.source.reading import update_mirror
from bot.text import format_count
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.touches.judgement import judge_merges
from impact.touches.models import MergeTouches, TouchLevel

# without an update for so long, hardly any is merged as it is
IDLE_DAYS = 30
# lines of the message and of that in its thread, tried until they fit
_LEAD_LIMITS, _THREAD_LIMITS = (8, 5, 3), (30, 20, 12, 6)


@dataclass(frozen=True, slots=True)
class OpenReport:
    """The open pull requests that would break a profile or may, most certain first, and what was listed."""

    profile: str
    listed: OpenPulls
    hits: CoveredList[MergeTouches]

    @property
    def heads(self) -> Mapping[int, str]:
        """The heads of those that would break it, by their numbers."""
        return {hit.number: hit.commit for hit in self.hits.ignore_coverage()}


def judge_open_pulls(app: App, profile_name: str) -> OpenReport:
    """Judge the open pull requests of a profile's upstream by their heads. What was read of a head is kept.

    Raises UsageError without such a profile, StoreUnavailable, and what GitHub raises for the list.
    """
    entry = find_entry(app, profile_name)
    profile, source = app.profiles.require_scanned(entry), app.sources.open_pulls
    if source is None:
        raise UsageError("The sample of this demo has no open pull requests.")
    listed = source.list_open(entry.upstream, app.now() - timedelta(days=IDLE_DAYS))
    # it has the commits from which heads branched off
    update_mirror(app.sources.source_mirror, entry.upstream)
    contracts, coverage = read_open_contracts(app, source, listed.pulls)
    touching = judge_merges(entry.name, profile, contracts, entry.coverage).touching
    # to a reader they are no merges; their total is in the first part
    parts = (
        CoveredPart(OPEN_THINGS, part.unread, 0, part.reason) if part.things == "merges" else part
        for part in touching.coverage.parts
    )
    unlisted = Coverage.of(CoveredPart("open pull requests that GitHub did not list", listed.unlisted))
    hits = replace(touching, coverage=coverage + replace(touching.coverage, parts=tuple(parts)) + unlisted)
    breaking = hits.derive(lambda merges: (hit for hit in merges if hit.level >= TouchLevel.MAY_BREAK))
    return OpenReport(entry.name, listed, breaking)


@job("open", QueueName.LONG, LONG_RETRIES)
def show_open_pulls(app: App, asker: SlackRequest, profile: str = "") -> None:
    def make() -> Answer:
        first, *further = render_open_pulls(judge_open_pulls(app, profile))
        return Answer(first, first, is_private=True, further=tuple(further))

    started = "Reading open pull requests… Those that I haven't read yet take a while."
    app.replies.give_answer(asker, "open", Audience.ASKER, make, started)


# --- how it looks


def render_open_pulls(report: OpenReport, shown: Mapping[int, str] | None = None) -> list[Post]:
    """Return a message with the first ones, and one for its thread with the others, if any.

    ``shown`` are the heads that the message before it had, by their numbers: what did not change is folded.
    """
    earlier, pulls = shown or {}, {pull.number: pull for pull in report.listed.pulls}
    title = f"Open pull requests that would break {shorten_profile(report.profile)}, or may"
    hits = report.hits.ignore_coverage()
    old = [hit for hit in hits if earlier.get(hit.number) == hit.commit]
    fresh = [hit for hit in hits if hit not in old]
    blocks, rest = list[Block](), list[MergeTouches]()

    def show(_: Sequence[MergeTouches]) -> Iterator[Block]:
        lines = [_render_line(hit, pulls[hit.number], is_changed=hit.number in earlier) for hit in fresh[:most]]
        lines += [_render_rest("Also", fresh[most:], pulls)] if fresh[most:] else []
        lines += [_render_rest("Still open, as in the last message", old, pulls)] if old else []
        yield make_block(make_bullets(lines))

    nothing = f"None of {format_count(len(pulls), 'open pull request')} does."
    for most in _LEAD_LIMITS:
        listed = report.hits.render(make_sentence, show, nothing)
        blocks, rest = [make_header(title), *_render_left_out(report.listed), *listed], [*fresh[most:], *old]
        if count_characters(blocks) <= MAX_CHARACTERS:
            break
    posts = [Post(escape_mrkdwn(title), tuple(blocks))]
    if rest:
        versions = (_render_thread(rest, pulls, most) for most in _THREAD_LIMITS)
        posts.append(Post("The other open pull requests", tuple(choose_fitting_blocks(versions))))
    return posts


def _render_left_out(listed: OpenPulls) -> Iterator[Block]:
    parts = [
        f"{count:,} {what}"
        for count, what in (
            (listed.drafts, "drafts"),
            (listed.idle, f"without an update in {IDLE_DAYS} days"),
            (listed.other_branches, "into other branches"),
        )
        if count
    ]
    if parts:
        yield make_sentence(f"Of {listed.total:,} open ones I left out: {', '.join(parts)}.")


def _render_line(hit: MergeTouches, pull: PullRequest, *, is_changed: bool = False) -> list[Element]:
    title, touch = keep_title(pull), hit.touches[0]
    others = len({(use.path, use.line) for each in hit.touches for use in each.uses}) - 1
    return [
        *render_number(hit.number, pull),
        make_text(f" {title}{' (changed since the last message)' if is_changed else ''} — "),
        *render_touch(touch, pull),
        *([make_text(f" (+{format_count(others, 'place')})")] if others > 0 else []),
        *render_action(touch, WIDE_TOUCHES.action),
    ]


def _render_rest(what: str, hits: Sequence[MergeTouches], pulls: Mapping[int, PullRequest]) -> list[Element]:
    urls = {hit.number: pulls[hit.number].url for hit in hits}
    return [make_text(f"{what}: "), *render_numbers([*urls], urls), make_text(".")]


def _render_thread(hits: Sequence[MergeTouches], pulls: Mapping[int, PullRequest], most: int) -> list[Block]:
    lines = render_lines(hits, most, lambda hit: _render_line(hit, pulls[hit.number]), " of them")
    return [make_list("The others", lines)]
