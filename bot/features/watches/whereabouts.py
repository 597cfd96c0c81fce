"""``/prdigest where 35617``: which tags and pins hold a merge, and what reverted or repaired it since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Self

from bot.app import App
from bot.errors import MirrorUnavailable, SourceUnavailable, UsageError
from bot.features.merges.others import NO_OTHERS, OthersOfMerge, find_others, render_others
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.view import format_outcome, format_undone, render_reference
from bot.features.profiles.others import list_histories
from bot.platform.commands import AllowedRepositories, QueryOptions
from bot.platform.git.tag_history import CommitCopy, Tag, TagHistory
from bot.platform.jobs import job
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import (
    SHARE_DIGEST,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_details_button,
    make_link,
    make_section,
    make_text,
)
from bot.platform.slack.requests import Audience, SlackRequest
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart
from impact.text.strings import collapse_lines, quote_input

NO_CLONE = "the bot keeps no clone"
NO_TAGS: CoveredList[Tag] = CoveredList()
# tags that are named in an answer, and copies
_MAX_TAGS, _MAX_COPIES = 6, 3


@dataclass(frozen=True, slots=True)
class WhereRequest:
    kind: ClassVar[str] = "where"
    reference: Reference
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> WhereRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ())
        return cls(parse_one(cls.kind, options.arguments, repositories), options.is_private)

    def require_known(self, repositories: AllowedRepositories) -> Self:
        repositories.require_known(self.reference.repository)
        return self

    def __str__(self) -> str:
        return f"{self.kind} {self.reference}"


def parse_one(word: str, arguments: Sequence[str], repositories: AllowedRepositories) -> Reference:
    """Return the only pull request among the words after a first one. Raises UsageError."""
    rest = arguments[1:] if arguments[:1] and arguments[0].lower() == word else arguments
    if not rest:
        raise UsageError(f"Which pull request? Add its number, such as {word} 35617.")
    if len(rest) > 1:
        raise UsageError(f"I don't understand {quote_input(' '.join(rest[1:]))}: name one pull request.")
    return repositories.parse_pull_request(rest[0])


@dataclass(frozen=True, slots=True)
class HoldingPin:
    """Whether the pin of a profile holds a merge; None where that could not be read."""

    profile: str
    name: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a merge is: in tags, as copies on other branches, in pins, what became of it, and what others did.

    ``newest`` is the newest tag of all. Tags are oldest first.
    """

    pull: PullRequest
    tags: CoveredList[Tag] = NO_TAGS
    copies: tuple[CommitCopy, ...] = ()
    newest: Tag | None = None
    pins: tuple[HoldingPin, ...] = ()
    outcomes: tuple[MergeOutcome, ...] = ()
    others: OthersOfMerge = NO_OTHERS

    @property
    def first_release(self) -> tuple[Tag, CommitCopy | None] | None:
        """The first release that holds it, else the first tag, and the copy that it holds; None without any."""
        held: list[tuple[Tag, CommitCopy | None]] = [(tag, None) for tag in self.tags.ignore_coverage()]
        held += [(tag, copy) for copy in self.copies for tag in copy.tags]
        releases = [each for each in held if each[0].is_release] or held
        return min(releases, key=lambda each: each[0].at, default=None)


def fetch_whereabouts(app: App, reference: Reference) -> Whereabouts:
    """Return where a pull request is by now. Raises PrdigestError if GitHub does not tell what it is."""
    return find_whereabouts(app, app.pulls.fetch_pull_request(reference.repository, reference.number))


def find_whereabouts(app: App, pull: PullRequest) -> Whereabouts:
    if not pull.is_merged:
        return Whereabouts(pull)
    repository, history, outcomes = pull.repository, app.sources.tag_history, app.timeline.find_outcomes(pull)
    known, places, problem = tuple[Tag, ...](), tuple[CommitCopy, ...](), NO_CLONE
    try:
        if history:
            history.update(repository)
            known = history.list_tags(repository)
            places, problem = history.find_copies(repository, pull.commit, pull.number, pull.title), ""
    except (MirrorUnavailable, SourceUnavailable) as error:
        problem = str(error).rstrip(".")
    gap = Coverage.of(CoveredPart(f"the tags of {repository}", 1, 0, problem)) if problem else COMPLETE
    held = {tag.name for each in places for tag in each.tags}
    pins = _read_pins(app, pull, history, {tag.name: tag.name in held for tag in known} if places else {})
    others = find_others(list_histories(app, repository), pull)
    tags, newest = places[0].tags if places else (), next(reversed(known), None)
    return Whereabouts(pull, CoveredList(tags, gap), places[1:], newest, pins, outcomes, others)


def _read_pins(
    app: App, pull: PullRequest, history: TagHistory | None, tags: Mapping[str, bool]
) -> tuple[HoldingPin, ...]:
    """Return the pins of the profiles that the asker may see. Without commits, nobody knows what they hold.

    The commit of a pinned tag is the last one of the default branch in it: what it holds is known by ``tags``.
    """
    pins = []
    for entry in app.profiles.list_entries():
        if (pin := entry.pin) and str(entry.upstream).casefold() == str(pull.repository).casefold():
            holds = tags.get(pin.name)
            if history and holds is None:
                with suppress(SourceUnavailable):
                    holds = history.is_part(pull.repository, pull.commit, pin.commit)
            pins.append(HoldingPin(entry.name, pin.label, holds))
    return tuple(pins)


@job("where")
def answer_where(app: App, asker: SlackRequest, request: WhereRequest, audience: Audience) -> None:
    def make() -> Answer:
        found_places = fetch_whereabouts(app, request.require_known(app.repositories).reference)
        details = make_details_button(found_places.pull)
        return build_answer(
            asker.name, render_whereabouts(found_places), Share(SHARE_DIGEST, request), details, ""
        )

    started = f"Looking for #{request.reference.number} in tags and pins…"
    app.replies.give_answer(asker, "where", audience, make, started)


# --- how it looks


def render_whereabouts(places: Whereabouts) -> Post:
    state, gap, lines = describe_state(places.pull), places.tags.explain_gaps(), describe_places(places)
    items = [[make_text(line)] for line in lines] + [_render_outcome(each) for each in places.outcomes]
    items += render_others(places.others) if places.others.total else []
    head = [*render_reference(places.pull), make_text(f" {state}")]
    parts = [make_section([*([make_text(f"{gap}\n")] if gap else []), *head])]
    text = " ".join([*([gap] if gap else []), f"#{places.pull.number} {state}", *lines])
    return Post(
        escape_mrkdwn(collapse_lines(text)), (make_block(*parts, *([make_bullets(items)] if items else [])),)
    )


def describe_state(pull: PullRequest) -> str:
    if not pull.is_merged:
        return "was closed without being merged." if pull.state == "CLOSED" else "is not merged yet."
    into = f" into {pull.other_branch}" if pull.other_branch else ""
    return f"was merged{into} on {pull.merge_time:%Y-%m-%d} as {pull.commit[:10]}."


def describe_places(places: Whereabouts) -> list[str]:
    """Return sentences on tags, copies and pins, to be shown below what was not read of the tags."""
    if not places.pull.is_merged:
        return []
    newest = f": the newest, {places.newest.name}, is of {places.newest.at:%Y-%m-%d}" if places.newest else ""
    nothing = "" if places.copies else f"In no tag yet{newest}."
    known = nothing if places.tags.coverage.is_complete and places.tags.is_empty else ""
    lines = [*([known] if known else []), *places.tags.render_below(_describe_tags)]
    for copy in places.copies[:_MAX_COPIES]:
        where = _name_tags(copy.tags) if copy.tags else "a branch without a tag"
        lines.append(f"Copied as {copy.commit[:10]}, which is in {where}.")
    if more := places.copies[_MAX_COPIES:]:
        lines.append(f"And {len(more)} more copies.")
    for pin in places.pins:
        holds = {True: "holds it", False: "does not hold it yet", None: "could not be compared"}[pin.holds]
        lines.append(f"The pin of {pin.profile} ({pin.name}) {holds}.")
    return lines


def _describe_tags(tags: Sequence[Tag]) -> Iterator[str]:
    first = next((tag for tag in tags if tag.is_release), tags[0])
    early = f", before that in {tags[0].name}" if tags[0].at < first.at else ""
    # one commit may have several
    later = [tag for tag in tags if tag.at >= first.at and tag is not first]
    also = f"; also in {_name_tags(later)}" if later else ""
    yield f"First in {first.name} of {first.at:%Y-%m-%d}{early}{also}."


def _name_tags(tags: Sequence[Tag]) -> str:
    """Return the names of tags, the first ones."""
    rest = len(tags) - _MAX_TAGS
    return ", ".join([*(tag.name for tag in tags[:_MAX_TAGS]), *([f"{rest} more"] if rest > 0 else [])])


def _render_outcome(outcome: MergeOutcome) -> list[Element]:
    by = outcome.by
    words = format_outcome(outcome)
    return [
        make_text(f"{words[:1].upper()}{words[1:]} "),
        make_link(by.url, f"#{by.number}"),
        make_text(f"{format_undone(outcome)}."),
    ]
