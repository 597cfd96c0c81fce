"""What a release of an upstream means for a team's code: ``/prdigest release v1.2.0``, and what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from bot.app import App
from bot.errors import UsageError
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.review import FindingStatus
from bot.features.merges.view import close_findings, make_list, render_lines, render_outcome, render_reference
from bot.features.profiles.scanning import find_merge
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.reviews.service import get_review
from bot.features.touches.contracts import list_deprecations
from bot.features.touches.decisions import HITS
from bot.features.touches.lines import (
    MAX_LISTED,
    HitContext,
    PendingHits,
    TouchLimits,
    make_sentence,
    render_deprecation,
    render_spent,
    render_touches,
)
from bot.features.touches.requests import ReleaseRequest
from bot.features.touches.service import find_entry, judge_pending, list_copied
from bot.features.watches.service import list_watched
from bot.features.watches.whereabouts import NO_CLONE
from bot.platform.git.tag_history import Tag, TagHistory
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import (
    SHARE_DIGEST,
    Block,
    Element,
    Post,
    choose_fitting_blocks,
    escape_mrkdwn,
    make_block,
    make_details_menu,
    make_header,
    make_link,
    make_section,
    make_text,
)
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.tables import Table
from bot.text import format_count, truncate_words
from impact.contract.deprecations import DeprecationState, parse_version
from impact.contract.models import MergeContract
from impact.coverage import CoveredList
from impact.history.outcomes import OutcomeKind, find_outcomes
from impact.profile.models import Profile
from impact.repository import Repository
from impact.text.strings import collapse_lines, quote_input, truncate_text
from impact.touches.models import TouchLevel, TouchReport
from impact.touches.profile_index import UsedDeprecation

# a tag that is older when it is first seen is no news; one of a commit may be days older than its release
_NEWS_AGE = timedelta(days=14)
# before the pin: what a release repairs was merged by then
_LOOK_BACK = timedelta(days=60)
_MAX_NAMED = 4
# hits, and lines of each other list, until the post fits into a message
_VERSIONS = ((TouchLimits(hits=5), MAX_LISTED), (TouchLimits(hits=4, code=0), 3), (TouchLimits(2, 0, 6, 0), 1))

# what hits do to a team, in the order of how certain they are, one and several
_KINDS = {
    TouchLevel.BREAKS: ("certain break",),
    TouchLevel.STOPS_SILENTLY: ("silent stop",),
    TouchLevel.MAY_BREAK: ("possible break",),
    TouchLevel.TOUCHES: ("other touch", "other touches"),
}


# --- which tags there are


@dataclass(frozen=True, slots=True)
class SeenTags:
    """The releases and candidates that a repository was seen to have, with when (aware).

    ``since`` is the first look.
    """

    since: datetime
    tags: Mapping[str, datetime]


SEEN_TAGS = Table("tags:{repository}", SeenTags, "tags of releases that were seen upstream")


def list_new_tags(app: App, repository: Repository) -> tuple[SeenTags | None, list[Tag]]:
    """Return what to keep of the tags of a repository, and those that are news. Without a tag history, None.

    At the first look none is. Raises MirrorUnavailable and SourceUnavailable.
    """
    history = app.sources.tag_history
    if history is None:
        return None, []
    history.update(repository)
    tags = [each for each in history.list_tags(repository) if each.is_release or each.is_candidate]
    now, seen = app.now(), app.tables.get(SEEN_TAGS, str(repository).lower())
    known = seen.tags if seen else {}
    fresh = [each for each in tags if each.name not in known]
    news = [each for each in fresh if seen and now - each.at <= _NEWS_AGE]
    # an old tag that is fetched late has appeared with the first ones
    since = seen.since if seen else now
    times = {each.name: now if each in news else since for each in fresh}
    return SeenTags(since, {**known, **times}), news


def list_appeared(app: App, repository: Repository, since: datetime, until: datetime) -> list[str]:
    """Return the tags that appeared between two instants (aware), in order."""
    seen = app.tables.get(SEEN_TAGS, str(repository).lower())
    return [name for name, at in seen.tags.items() if seen.since < at and since <= at < until] if seen else []


def concerns_pin(tag: Tag, entry: ProfileEntry) -> bool:
    """Return whether a team follows a tag: candidates are for those who pin one."""
    return tag.is_release or (entry.pin is not None and Tag(entry.pin.name, tag.at).is_candidate)


# --- what one of them means


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """What a tag means for a profile since its pin, or since the release before if it has none (``start``).

    ``has_start``: the tag holds what the start holds; else it was cut before that, and has copies alone.
    ``warnings`` are merges with a confirmed bug that nothing repaired. ``awaited`` are merges that it is the first
    release to hold, with why they are waited for. ``outcomes`` are those that it holds, ``contracts`` what was
    judged.
    """

    tag: Tag
    entry: ProfileEntry
    start: PinnedMerge
    has_start: bool
    pending: PendingHits
    touches: TouchReport
    deprecations: CoveredList[UsedDeprecation]
    regressions: Sequence[MergeOutcome] = ()
    warnings: Sequence[tuple[PullRequest, str]] = ()
    awaited: Sequence[tuple[PullRequest, str]] = ()
    outcomes: Sequence[MergeOutcome] = field(default=(), repr=False)
    contracts: Sequence[MergeContract] = field(default=(), repr=False)

    @property
    def pulls(self) -> list[PullRequest]:
        """What a reader may want details of, the most pressing first."""
        hits = {pull.number: pull for pull in self.pending.pulls}
        touching = [hits[hit.number] for hit in self.touches.touching.ignore_coverage()]
        return [*touching, *(each.pull for each in self.regressions), *(pull for pull, _ in self.awaited)]


def build_release(app: App, entry: ProfileEntry, name: str = "", reader: str = "") -> ReleaseReport:
    """Return what a tag means for a profile; without a name, the last release. ``reader`` is who alone sees it.

    Raises UsageError: there is no such tag, or no tags are known; and what git and the store raise.
    """
    history, upstream = app.sources.tag_history, entry.upstream
    if history is None:
        raise UsageError(f"I know no tags of {upstream}, since {NO_CLONE}: set PRDIGEST_MIRROR to a folder.")
    history.update(upstream)
    tags = history.list_tags(upstream)
    tag = _find_tag(tags, upstream, name)
    profile = app.profiles.require_scanned(entry)
    start = entry.pin or _find_release_before(app, entry, tags, tag)
    way = history.list_way(upstream, start.commit, tag.commit)
    pending, touches, contracts = judge_pending(app, entry, profile, start, way=way)
    listed = app.merge_history.read_merges(upstream, start.merged_at - _LOOK_BACK, app.now())
    merges = [each for each in listed if not each.other_branch]
    inside = {each.number: each for each in merges if way.has_merge(each.commit, each.number)}
    held = list_copied(app, upstream, start)
    new = {
        number: each for number, each in inside.items() if each.merge_time > start.merged_at and number not in held
    }
    outcomes = [each for each in find_outcomes(RevertIndex(listed)) if each.stands]
    regressions = [each for each in outcomes if each.pull.number in new and each.by.number not in inside]
    return ReleaseReport(
        tag,
        entry,
        start,
        history.is_part(upstream, start.commit, tag.commit),
        pending,
        touches,
        _list_ending(app, entry, profile, tag, inside),
        regressions,
        [*_list_warnings(app, new.values(), outcomes)],
        [
            *_list_repairs(app, entry, "your pin" if entry.pin else start.label, outcomes, new),
            *(_list_watched(app, history, tag, new, reader) if reader else ()),
        ],
        # what came later is told as what is wrong in it
        [each for each in outcomes if each.by.number in inside],
        contracts,
    )


def _find_tag(tags: Sequence[Tag], upstream: Repository, name: str) -> Tag:
    releases = [each for each in tags if each.is_release]
    tag = next((each for each in reversed(tags if name else releases) if name in ("", each.name)), None)
    if tag is None:
        last = ", ".join(each.name for each in releases[: -_MAX_NAMED - 1 : -1])
        which = f"{quote_input(name)} is no tag of {upstream}" if name else f"{upstream} has no tag of a release"
        raise UsageError(f"{which}: the last ones are {last}." if last else f"{which}, and I know no other.")
    return tag


def _find_release_before(app: App, entry: ProfileEntry, tags: Sequence[Tag], tag: Tag) -> PinnedMerge:
    earlier = [each for each in tags if each.is_release and each.at < tag.at]
    # a repair of an old release may come after a newer one
    lower = sorted((each for each in earlier if each.order < tag.order), key=lambda each: each.order)
    name = next((each.name for each in reversed(lower or earlier)), "")
    merge = find_merge(app, entry.upstream, name) if name else None
    if merge is None:
        raise UsageError(f"{entry.name} names no commit that I know, and I know no release before {tag.name}.")
    return PinnedMerge(name, merge.commit, merge.merge_time.astimezone(UTC))


def _list_ending(
    app: App, entry: ProfileEntry, profile: Profile, tag: Tag, inside: Mapping[int, PullRequest]
) -> CoveredList[UsedDeprecation]:
    """Return what the code uses of what a tag removed, or of what was to be removed in it."""
    version = parse_version(tag.version)

    def select(states: Iterable[tuple[DeprecationState, UsedDeprecation]]) -> Iterator[UsedDeprecation]:
        for _, used in states:
            deadline, removed = parse_version(used.entry.when), used.entry.removed_by
            is_due = version is not None and deadline is not None and deadline <= version
            if used.uses and (removed in inside if removed else is_due):
                yield used

    return list_deprecations(app, entry.upstream, profile).derive(select)


def _list_warnings(
    app: App, pulls: Iterable[PullRequest], outcomes: Sequence[MergeOutcome]
) -> Iterator[tuple[PullRequest, str]]:
    """Yield the merges with a bug that the AI bug review confirmed and nothing repaired, and what goes wrong."""
    for pull in pulls:
        review = close_findings(pull.number, get_review(app, pull), outcomes)
        finding = review.strongest_finding if review else None
        if finding and finding.status is FindingStatus.CONFIRMED:
            yield pull, finding.consequence


def _list_repairs(
    app: App, entry: ProfileEntry, start: str, outcomes: Iterable[MergeOutcome], new: Mapping[int, PullRequest]
) -> Iterator[tuple[PullRequest, str]]:
    """Yield what reverted or repaired a merge that the start holds and that the team was warned of."""
    own = (each.key.reference for each in app.tables.list_fields(HITS, entry.name).values())
    shown = {each.number for each in own if str(each.repository).lower() == str(entry.upstream).lower()}
    for outcome in outcomes:
        if outcome.by.number in new and outcome.pull.number in shown and outcome.pull.number not in new:
            verb = "repairs" if outcome.kind is OutcomeKind.REPAIRED else "reverts"
            yield outcome.by, f"{verb} #{outcome.pull.number}, which touches you and is in {start}"


def _list_watched(
    app: App, history: TagHistory, tag: Tag, new: Mapping[int, PullRequest], reader: str
) -> Iterator[tuple[PullRequest, str]]:
    for watch in list_watched(app, next(iter(new.values())).repository, reader) if new else ():
        if pull := new.get(watch.number):
            releases = [each for each in history.list_tags(pull.repository, pull.commit) if each.is_release]
            # one that a release of another branch holds as a copy is in no tag by itself
            if not releases or releases[0].at >= tag.at:
                yield pull, "you watch it"


# --- how it looks


def render_release(report: ReleaseReport, name: str, web: str) -> Post:
    """Render what a tag means. ``name`` is the upstream's, ``web`` the address of GitHub's pages."""
    tag, profile = truncate_text(collapse_lines(report.tag.name), 60), report.entry.name[:40]
    title, count = f"{tag} · {name} · for {profile}", count_hits(report)
    versions = (_render_parts(report, count, limits, most) for limits, most in _VERSIONS)
    links = make_block(make_section(_link_rest(report, f"{web}/{report.entry.upstream}")))
    blocks = choose_fitting_blocks([make_header(title), *parts, links] for parts in versions)
    return Post(escape_mrkdwn(f"{title}: {count}"), tuple(blocks))


def count_hits(report: ReleaseReport) -> str:
    """Return how much of a tag is new to a team and what that does, those first that are certain."""
    gaps, days = report.touches.touching.explain_gaps(), (report.tag.at - report.start.merged_at).days
    start = f"{report.start.label}, {format_count(days, 'day')} earlier" if days > 0 else report.start.label
    since = f"your pin ({start})" if report.entry.pin else f"the release before ({start}; your code pins none)"
    counts = Counter(hit.level for hit in report.touches.touching.ignore_coverage())
    kinds = [format_count(counts[level], *words) for level, words in _KINDS.items() if counts[level]]
    place = "your pin" if report.entry.pin else report.start.label
    early = "" if report.has_start else f"It was cut before {place}: only what was copied to it is new to you."
    if report.pending.merges:
        merges = f"{format_count(report.pending.merges, 'merge')} since {since}"
        merges += f": {', '.join(kinds)}." if kinds else "."
    else:
        merges = "" if gaps else f"It holds no merge that is not in {since}."
    return " ".join(filter(None, (gaps, early, merges)))


def _render_parts(report: ReleaseReport, count: str, limits: TouchLimits, most: int) -> list[Block]:
    context = HitContext.build(report.pending.pulls, report.outcomes)
    url = f"{report.pending.pulls[0].web}/{report.entry.upstream}" if report.pending.pulls else ""

    def show_ending(ending: Sequence[UsedDeprecation]) -> Iterator[Block]:
        yield make_list("Ends in it", render_lines(ending, most, lambda used: render_deprecation(used, url)))

    def render_reason(each: tuple[PullRequest, str]) -> list[Element]:
        return [*render_reference(each[0]), make_text(f" ({truncate_words(collapse_lines(each[1]), 25)})")]

    known = [*map(render_outcome, report.regressions), *map(render_reason, report.warnings)]
    lists = (("Known to be wrong in it", known), ("What you wait for", [*map(render_reason, report.awaited)]))
    return [
        make_sentence(count),
        *render_touches(report.touches, context, limits, ": the plan has them"),
        *report.deprecations.render(lambda gaps: make_sentence(f"What ends in it: {gaps}"), show_ending, ""),
        *render_spent(report.pending.spent, most),
        *(make_list(title, render_lines(lines, most, list)) for title, lines in lists if lines),
    ]


def _link_rest(report: ReleaseReport, url: str) -> list[Element]:
    tag = quote(report.tag.name, safe="")
    return [
        make_link(f"{url}/releases/tag/{tag}", "Release"),
        make_text(" · "),
        make_link(f"{url}/compare/{report.start.commit[:10]}...{tag}", "all commits"),
        make_text(f" · the whole way: /prdigest upgrade profile:{report.entry.name}"),
    ]


@job("release", QueueName.LONG, LONG_RETRIES)
def answer_release(app: App, asker: SlackRequest, request: ReleaseRequest, audience: Audience) -> None:
    def make() -> Answer:
        entry = find_entry(app, request.profile)
        report = build_release(app, entry, request.tag)
        post = render_release(report, app.name_repository(entry.upstream), app.repositories.web)
        return build_answer(asker.name, post, Share(SHARE_DIGEST, request), make_details_menu(report.pulls), "")

    started = f"Looking at what {request.tag or 'the last release'} means for your code…"
    app.replies.give_answer(asker, "release", audience, make, started)
