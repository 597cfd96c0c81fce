"""``/prrisks``: the risky merges of some days, and how good such lists were.

The rules and the reviews that exist rank; a model reads only what is listed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from bot.app import App
from bot.dates import Span, get_today, parse_span
from bot.errors import StoreUnavailable
from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.requests import (
    DEFAULT_RISKS,
    MAX_PULL_REQUESTS,
    DigestRequest,
    RisksRequest,
    ScoreRequest,
    SubjectKind,
    SummaryRequest,
)
from bot.features.merges.review import BugReview, ReviewVerdict, rank_reviewed, select_riskiest
from bot.features.merges.risk import Risk
from bot.features.merges.timeline import LOOK_AHEAD, LOOK_BACK, DayContext, combine_lists, list_days
from bot.features.merges.view import Entry, close_findings
from bot.features.noise.rules import Mute, make_muted_button
from bot.features.noise.service import load_mutes, select_muted
from bot.features.reviews.service import get_review
from bot.features.risks.ratings import RatedDigest
from bot.features.risks.rules import TrackRecordScore, compute_score
from bot.features.risks.view import RiskList, render_risk_list, render_score
from bot.features.summaries.reading import load_files
from bot.features.summaries.service import get_summary, refresh_summary
from bot.features.touches.contracts import read_changes
from bot.features.touches.lines import describe_elsewhere, select_breaking
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import SHARE_RISKS, add_buttons, make_details_menu
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.tables import Table
from bot.platform.worker_threads import DeadlineExecutor
from impact.contract.models import cover_contracts
from impact.coverage import Coverage, CoveredList, CoveredPart
from impact.history.outcomes import find_outcomes
from impact.history.reverts import WATCH_WINDOW
from impact.repository import Repository

log = logging.getLogger(__name__)

T = TypeVar("T")
U = TypeVar("U")

_MONTH = timedelta(days=31)  # of a busy repository: 2 MB
# the period that decides how much a digest lists: long enough for a verdict, short enough to follow a change
_SCORED_PERIOD = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class ListLength:
    """Whether digests list less, since the lists were no better than chance."""

    is_reduced: bool


LENGTHS = Table("sparing:{repository}", ListLength, "whether digests list less", days=1)


# --- the list


@dataclass(frozen=True, slots=True)
class RatedPull:
    """A pull request, without the patches of its files, with its assessed risk and its review if there is one."""

    pull: PullRequest
    risk: Risk
    review: BugReview | None = None

    @property
    def has_confirmed_bug(self) -> bool:
        return self.review is not None and self.review.verdict is ReviewVerdict.CONFIRMED


def build_list(app: App, request: RisksRequest, mutes: Collection[Mute] = ()) -> RiskList:
    """Build the list. Merges of the week after the days count if they revert something.

    The merges recorded before the days serve as history for the rules. What a reader mutes leaves its place to
    others, unless it breaks or touches something, or was reverted.
    """
    repository, span = request.repository, request.span
    until = min(app.get_today().date, span.last + WATCH_WINDOW)
    days = [*span.days, *replace(span, first=span.last + timedelta(days=1), last=until).days]
    lists = list_days(app.pulls.list_merged, app.settings.prdigest_concurrency, repository, days)
    merged = combine_lists(span.days, lists[: len(span)])
    recorded = app.timeline.read_merges_or_none(
        repository, span.days[0].start - LOOK_BACK, span.days[-1].end + LOOK_AHEAD
    )
    merges = remove_duplicates([*combine_lists(days, lists).pulls, *recorded])
    context = DayContext.from_pulls((), merges)
    standing = [pair for pair in context.outcomes if pair.stands]
    own = {pull.number for pull in merged.pulls}
    # as far as the filters can be judged without files
    candidates = [pull for pull in merges if pull.number in own and request.filters.may_match(pull)]
    # the patches of a month need not stay in memory
    loaded = _run_parallel(app, lambda pull: load_files(app, pull).remove_patches(), candidates)
    rated = _rate_pulls(app, repository, context, loaded)
    matching = [each for each in rated if request.filters.is_match(each.pull)]
    touched = app.read_touches(request.profile, [each.pull for each in matching])
    if touched.report:
        matching = [each for each in matching if each.pull.number in touched.numbers]
    elsewhere = [each.pull for each in matching if each.pull.other_branch]
    coverage = merged.coverage + touched.coverage
    if touched.report:
        contracts, coverage = touched.contracts, coverage + touched.report.touching.coverage
    else:
        contracts, unknown = read_changes(app, [each.pull for each in matching])
        coverage += unknown + cover_contracts(contracts)
    numbers, reverted = {each.pull.number for each in matching}, {pair.pull.number for pair in standing}
    paired = {pair.by.number for pair in context.outcomes}
    is_reduced = is_list_reduced(app, repository)
    breaking = select_breaking(contracts, (each.pull for each in matching), reverted)
    stays = {*reverted, *paired, *touched.numbers, *(merge.number for merge in breaking)}
    muted = select_muted(app, mutes, (each.pull for each in matching if each.pull.number not in stays))
    ranked = _rank_standing((each for each in matching if each.pull not in muted), reverted)
    above = select_riskiest(ranked, request.top or DEFAULT_RISKS, is_reduced=is_reduced)
    # a request for a number of entries gets that many, because all of them are ranked
    listed = {each.pull.number for each in above}
    below = [each for each in ranked if each.pull.number not in listed][: max(0, (request.top or 0) - len(above))]
    entries = _run_parallel(app, lambda each: _read_entry(app, each), [*above, *below])
    # no rule applies to these
    unread = [f"#{each.pull.number}" for each in rated if each.pull.files is None]
    coverage += Coverage.of(CoveredPart("merges' files", len(unread), len(rated), ", ".join(unread)))
    return RiskList(
        name=app.name_repository(repository),
        span=span,
        filters=request.selection,
        merged=len(own),
        matching=len(matching),
        taken_back=tuple(pair for pair in standing if not numbers.isdisjoint((pair.pull.number, pair.by.number))),
        older=tuple(
            each.pull
            for each in matching
            if context.is_revert(each.pull.number) and each.pull.number not in paired
        ),
        riskiest=CoveredList(tuple(entries[: len(above)]), coverage),
        below=tuple(entries[len(above) :]),
        top=request.top,
        ranked=len(ranked),
        notes=tuple(filter(None, (*merged.notes, describe_elsewhere(elsewhere)))),
        is_reduced=is_reduced,
        touches=touched.report,
        touching=tuple(each.pull for each in matching) if touched.report else (),
        breaking=breaking,
        muted=muted,
    )


def _rate_pulls(
    app: App, repository: Repository, context: DayContext, loaded: Sequence[PullRequest]
) -> list[RatedPull]:
    risks = context.assess_pulls(loaded, loaded, app.paths.get_path_classes(repository))
    reviews = _run_parallel(app, lambda pull: get_review(app, pull), loaded)
    files = {pull.number: pull for pull in loaded}
    ends = [replace(pair, by=files.get(pair.by.number, pair.by)) for pair in context.outcomes if pair.stands]
    reviews = [close_findings(pull.number, review, ends) for pull, review in zip(loaded, reviews, strict=True)]
    return list(map(RatedPull, loaded, risks, reviews))


def _rank_standing(rated: Iterable[RatedPull], reverted: Collection[int]) -> tuple[RatedPull, ...]:
    # what a repair leaves open is listed, as in a digest
    standing = (each for each in rated if each.pull.number not in reverted or each.has_confirmed_bug)
    return rank_reviewed(each for each in standing if not each.pull.other_branch)


def _read_entry(app: App, rated: RatedPull) -> Entry:
    pull = rated.pull
    # a new summary needs the patches, which the cache of files still has
    read = get_summary(app, Reference(pull.repository, pull.number)) or refresh_summary(
        app, replace(pull, files=None)
    )
    return Entry.from_summarised(read, rated.risk, rated.review)


def _run_parallel(app: App, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
    with DeadlineExecutor(app.settings.prdigest_concurrency, "risks") as crew:
        return crew.map_items(work, items)


# --- the track record


def score_lists(app: App, repository: Repository, span: Span) -> TrackRecordScore:
    """Score the lists of the digests whose last day ended in the span. Raises StoreUnavailable."""
    now = app.now()
    days = span.days
    keys = app.list_digest_keys(repository, days[0].end, days[-1].end)
    posted = (
        RatedDigest(key, record.posted_at.astimezone(UTC), ratings)
        for key, record in app.digest_records.iterate_records(keys)
        if record.posted_at and (ratings := record.ratings)
    )
    digests = list(_keep_first_ratings(posted))
    first = min((each.merged_at for digest in digests for each in digest.ratings.rated), default=now)
    outcomes = find_outcomes(RevertIndex(_iterate_merges(app, repository, first, now)))
    return compute_score(digests, outcomes, now)


def is_list_reduced(app: App, repository: Repository) -> bool:
    """Return whether digests of a repository should list less, judged by the lists of the last 180 days.

    The answer is computed once a day. If the store is away, it is False.
    """
    name = str(repository).lower()
    try:
        length = app.cached.get(LENGTHS, name)
        if length is None:
            last = get_today(app.now(), ZoneInfo("UTC"))
            score = score_lists(app, repository, Span(last.date - _SCORED_PERIOD, last.date, last.zone))
            length = ListLength(score.is_reduced)
            app.cached.put(LENGTHS, length, name)
    except StoreUnavailable as error:
        log.warning("how good the lists of %s were is not known: %s", repository, error)
        return False
    return length.is_reduced


def _keep_first_ratings(digests: Iterable[RatedDigest]) -> Iterator[RatedDigest]:
    """Yield the digests without ratings that an earlier one showed: many channels may show the same ones."""
    first: dict[int, tuple[datetime, str]] = {}
    for digest in digests:
        own = (digest.at, digest.key)
        rated = tuple(each for each in digest.ratings.rated if own <= first.get(each.number, own))
        first.update((each.number, own) for each in rated)
        yield replace(digest, ratings=replace(digest.ratings, rated=rated))


def _iterate_merges(app: App, repository: Repository, since: datetime, until: datetime) -> Iterator[PullRequest]:
    """Yield the merges between two instants, read in parts so that the store can serve others in between."""
    while since < until:
        end = min(until, since + _MONTH)
        yield from app.merge_history.read_merges(repository, since, end)
        since = end


# --- answers


def answer_list(app: App, asker: SlackRequest, request: RisksRequest, audience: Audience) -> None:
    narrowed = f", {request.selection}" if request.selection else ""
    started = f"Looking at {request.repository}, {request.span.title}{narrowed}…"

    def make() -> Answer:
        return build_list_answer(app, asker, request, load_mutes(app, asker.find_lone_reader(audience)))

    app.replies.give_answer(asker, "risks", audience, make, started)


# the files of more than a hundred pull requests may have to be fetched; quick answers must not wait behind that
list_risks = job("risks")(answer_list)
list_many_risks = job("long_risks", QueueName.LONG, LONG_RETRIES)(answer_list)


def build_list_answer(
    app: App, asker: SlackRequest, request: RisksRequest, mutes: Collection[Mute] = ()
) -> Answer:
    request = request.require_known(app.repositories)
    request = replace(request, profile=app.profiles.require_known(request.profile, request.repository))
    risk_list = build_list(app, request, mutes)
    pulls = [entry.pull for entry in (*risk_list.riskiest.ignore_coverage(), *risk_list.below)]
    menu = make_details_menu([*pulls, *(pair.pull for pair in risk_list.taken_back)])
    share, subject = Share(SHARE_RISKS, request), SubjectKind.RISKS.format_subject(request)
    post = add_buttons(render_risk_list(risk_list), make_muted_button(risk_list.muted))
    return build_answer(asker.name, post, share, menu, subject)


@job("score")
def answer_score(app: App, asker: SlackRequest, request: ScoreRequest, audience: Audience) -> None:
    started = f"Checking the risk lists of {request.repository}, {request.span.title}…"

    def make() -> Answer:
        known = request.require_known(app.repositories)
        return build_score_answer(app, asker, known, score_lists(app, known.repository, known.span))

    app.replies.give_answer(asker, "score", audience, make, started)


def build_score_answer(app: App, asker: SlackRequest, request: ScoreRequest, score: TrackRecordScore) -> Answer:
    """Build the answer with the quality of the lists of some days.

    Its thread is about the listed pull requests, or about yesterday's digest if there are none: questions never
    make the bot read the diffs of months.
    """
    hits = [hit.pull for hit in score.hits]
    references = tuple(Reference(request.repository, pull.number) for pull in hits[:MAX_PULL_REQUESTS])
    if references:
        subject = SubjectKind.SUMMARY.format_subject(SummaryRequest(references))
    else:
        yesterday = parse_span("yesterday", app.get_today(), 1)
        subject = SubjectKind.DIGEST.format_subject(DigestRequest(request.repository, yesterday))
    post = render_score(app.name_repository(request.repository), request.span, score)
    return build_answer(asker.name, post, Share(SHARE_RISKS, request), make_details_menu(hits), subject)
