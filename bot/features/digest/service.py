"""The digest of a local day: its merges listed, read, rated, reviewed and summed up. Several days: an overview."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum, auto

from bot.app import App
from bot.dates import LocalDay
from bot.errors import DayUnavailable, ModelError, PrdigestError, UsageError
from bot.features.digest.lead import render_catch_up
from bot.features.digest.overview import (
    OverviewAnswer,
    build_overview_prompt,
    list_known_facts,
    remove_unknown_names,
)
from bot.features.digest.rules import Digest, DigestSpec, MultiDayDigest, Overview, UnknownDay, select_entries
from bot.features.digest.thread import MAX_HITS
from bot.features.digest.view import RenderedDigest, compute_fingerprint, render_digest, render_report
from bot.features.merges.others import OthersOfMerge, find_all_others
from bot.features.merges.requests import FULL_VIEW, OF_PROFILES, DigestRequest, DigestView, SubjectKind, ViewLevel
from bot.features.merges.review import ReviewCoverage
from bot.features.merges.summary import (
    Fallback,
    FallbackReason,
    SummarisedPullRequest,
    explain_fallback,
    read_isolated,
)
from bot.features.merges.view import Entry
from bot.features.noise.rules import make_muted_button
from bot.features.noise.service import find_less_wanted, load_mutes
from bot.features.profiles.others import list_histories
from bot.features.releases import concerns_pin, list_appeared
from bot.features.reviews.service import add_kept_reviews, get_review
from bot.features.summaries.reading import build_unsummarised
from bot.features.summaries.service import get_summary
from bot.features.touches.contracts import list_used_steps, read_changes
from bot.features.touches.decisions import list_closed, note_shown
from bot.features.touches.lines import OtherNews, PendingHits, TeamLessons, select_breaking
from bot.features.touches.others import find_news
from bot.features.touches.service import find_pending, judge_merges
from bot.features.touches.team_history import read_hit_lessons
from bot.features.watches.service import describe_watch, list_watched
from bot.platform.git.tag_history import Tag
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.models.completion import request_answer
from bot.platform.models.slots import limit_model_calls
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import SHARE_DIGEST, add_buttons, make_details_menu
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.source.reading import update_mirror
from bot.platform.worker_threads import DeadlineExecutor, iterate_results, note_progress, wait_for_result
from bot.text import format_count, remove_unknown_numbers
from impact.contract.models import MergeContract
from impact.coverage import COMPLETE, Coverage, CoveredPart
from impact.errors import READING_FAILED, attempt
from impact.history.reverts import Revert, expand_pairs
from impact.profile.models import ProfileMove
from impact.repository import Repository
from impact.touches.models import TouchReport
from impact.touches.profile_index import DeprecationStep

log = logging.getLogger(__name__)

# pull requests that are loaded before the model has time for them. Two digests of a worker then make fewer than
# the 100 calls at a time that GitHub allows (docs.github.com, "Rate limits for the REST API")
_MAX_AHEAD = 8
_MAX_AREAS = 4  # that an overview without a model names


class DigestUse(Enum):
    """What a digest is built for. All but ``KEPT`` read what was not read before."""

    POST = auto()
    """A channel: the list of a day that is over is asked for once for all channels, and bugs are looked for."""
    TERMINAL = auto()
    """The same, with the list of the day as it is now."""
    PREVIEW = auto()
    """One person: with the reviews alone that are kept."""
    REPORT = auto()
    """A report, which has no overview, of the day as it is now, with the reviews that are kept."""
    KEPT = auto()
    """A report of what was made before: no model is asked, and nothing is recorded."""


# these have a lead, which says what breaks callers
_SHOWING = (DigestUse.POST, DigestUse.TERMINAL, DigestUse.PREVIEW)


def build_digest(
    app: App,
    repository: Repository,
    day: LocalDay,
    name: str,
    view: DigestView = FULL_VIEW,
    use: DigestUse = DigestUse.POST,
    progress: Callable[[int, int], None] = note_progress,
) -> Digest:
    """Build the digest of a day. ``progress`` is called with (done, all) as pull requests are finished.

    Pull requests that ``view`` leaves out by their facts and files are not read. Without the list of the day a
    PrdigestError is raised; a single pull request that can't be read is shown by its facts, counted as not read.
    """
    pulls = app.pulls if use in (DigestUse.TERMINAL, DigestUse.REPORT) else app.day_lists
    merged = pulls.list_merged(repository, day)
    if merged.pulls and use is not DigestUse.KEPT:
        # after the list, so that it has all that was merged
        update_mirror(app.sources.source_mirror, repository)
    around = app.day_timeline.load_day_context(repository, day, merged.pulls)
    pulls_of_day = merged.pulls if use is DigestUse.KEPT else _load_day(app, merged.pulls)
    selected = _select_pulls(app, pulls_of_day, around.day_reverts, view)
    touched = read_touches(app, view.profile, selected, is_pending=view.only is ViewLevel.PENDING)
    contracts, missing = touched.contracts, around.coverage + touched.coverage
    if view.only is ViewLevel.BREAKING and not touched.report:
        contracts, incomplete = read_changes(app, selected)
        missing += incomplete
    selected = _select_by_contracts(selected, view, touched, contracts, around.day_reverts)
    if use in _SHOWING and view.only is not ViewLevel.BREAKING and not touched.report:
        read, (contracts, unknown) = _read_with_changes(app, selected, use, progress)
    else:
        read, unknown = _read_pulls(app, selected, use, progress), COMPLETE
    of_day = remove_duplicates([*(each.pull for each in read), *pulls_of_day])
    if use is not DigestUse.KEPT:
        app.timeline.record_merges(of_day)
    classes = app.paths.get_path_classes(repository)
    risks = around.assess_pulls((each.pull for each in read), of_day, classes)
    rated = tuple(map(Entry.from_summarised, read, risks))
    # before the selection, since what a review finds may make an entry one that is shown
    reviewed, coverage = _review(app, repository, rated, use)
    kept = touched.numbers.union(merge.number for merge in select_breaking(contracts, selected))
    entries = select_entries(view, reviewed, around.day_reverts, around.outcomes, kept)
    has_overview = use not in (DigestUse.REPORT, DigestUse.KEPT)
    numbers = frozenset(entry.number for entry in entries)
    outcomes, claims = around.select_outcomes(numbers)
    # after the contracts, which say what was announced and removed
    steps, moves, pending, news = _read_profile_day(app, view.profile, repository, day)
    made = Digest(
        repository=repository,
        name=name,
        day=day,
        entries=entries,
        overview=Overview(""),
        count=merged.count,
        outcomes=outcomes,
        view=view,
        hidden=len(merged.pulls) - len(entries),
        missing=missing + unknown,
        is_reduced=app.is_list_reduced(repository),
        path_classes=classes,
        review_coverage=coverage,
        touches=touched.report,
        # what was not read of those that are not shown is told, too
        contracts=tuple(each for each in contracts if each.number in numbers or each.unread),
        deprecations=steps,
        moves=moves,
        pending=pending,
        others=touched.others,
        other_news=news,
        claims=claims,
    )
    return replace(made, overview=write_overview(app, made)) if has_overview else made


def _load_day(app: App, pulls: tuple[PullRequest, ...]) -> tuple[PullRequest, ...]:
    """Return the merges of a day with their files, and record them: each is read beside what others changed."""
    if app.model is None or len(pulls) < 2:
        return pulls
    with DeadlineExecutor(app.settings.prdigest_concurrency + _MAX_AHEAD, "files") as crew:
        loaded = crew.map_items(lambda pull: attempt(f"#{pull.number}", app.load_files, pull) or pull, pulls)
    app.timeline.record_merges(loaded)
    return tuple(loaded)


def _select_pulls(
    app: App, pulls: tuple[PullRequest, ...], reverts: tuple[Revert, ...], view: DigestView
) -> tuple[PullRequest, ...]:
    """Return those that match the filters, with those that reverted one of them or that it reverted.

    One whose files are unavailable may match: it is shown rather than lost.
    """
    if not view.filters:
        return pulls
    candidates = [pull for pull in pulls if view.filters.may_match(pull)]
    if view.filters.paths:
        with DeadlineExecutor(app.settings.prdigest_concurrency, "files") as crew:
            loaded = crew.map_items(app.load_files, candidates)
        candidates = [pull for pull in loaded if pull.files is None or view.filters.is_match(pull)]
    fitting = {pull.number: pull for pull in candidates}
    shown = expand_pairs(fitting, reverts)
    return tuple(fitting.get(pull.number, pull) for pull in pulls if pull.number in shown)


def _review(
    app: App, repository: Repository, rated: tuple[Entry, ...], use: DigestUse
) -> tuple[tuple[Entry, ...], ReviewCoverage]:
    if use in (DigestUse.POST, DigestUse.TERMINAL):
        return app.review_entries(repository, rated, app.paths.get_path_classes(repository))
    return add_kept_reviews(rated, lambda pull: get_review(app, pull))


def _select_by_contracts(
    pulls: tuple[PullRequest, ...],
    view: DigestView,
    touched: TouchedDay,
    contracts: Sequence[MergeContract],
    reverts: tuple[Revert, ...],
) -> tuple[PullRequest, ...]:
    """Return those of a view of what touches or breaks, before they are read: what nobody sees needs no model."""
    if view.only not in (*OF_PROFILES, ViewLevel.BREAKING):
        return pulls
    breaking = (merge.number for merge in select_breaking(contracts, pulls))
    shown = expand_pairs(breaking if view.only is ViewLevel.BREAKING else touched.numbers, reverts)
    return tuple(pull for pull in pulls if pull.number in shown)


def _read_pulls(
    app: App, pulls: tuple[PullRequest, ...], use: DigestUse, progress: Callable[[int, int], None]
) -> tuple[SummarisedPullRequest, ...]:
    """Read and summarize pull requests, as many at a time as the settings say; as many more are loaded."""

    def read(pull: PullRequest) -> SummarisedPullRequest:
        if use is not DigestUse.KEPT:
            return app.refresh_summary(pull)
        kept = get_summary(app, Reference(pull.repository, pull.number))
        return kept or build_unsummarised(app, app.load_files(pull), Fallback(FallbackReason.NOT_SUMMARISED))

    done: dict[int, SummarisedPullRequest] = {}
    workers = app.settings.prdigest_concurrency
    progress(0, len(pulls))
    # those beyond the workers load their files while the model is busy
    threads = workers + min(workers, _MAX_AHEAD)
    with limit_model_calls(workers), DeadlineExecutor(threads, "digest") as crew:
        for each in iterate_results([crew.submit(read_isolated, pull, read) for pull in pulls]):
            done[each.number] = each
            progress(len(done), len(pulls))
    return tuple(done[pull.number] for pull in pulls)


def _read_with_changes(
    app: App, pulls: tuple[PullRequest, ...], use: DigestUse, progress: Callable[[int, int], None]
) -> tuple[tuple[SummarisedPullRequest, ...], tuple[tuple[MergeContract, ...], Coverage]]:
    """Read pull requests, and what they change for callers: meanwhile, where both need no list of files for it."""
    if any(pull.files is None for pull in pulls):
        read = _read_pulls(app, pulls, use, progress)
        return read, read_changes(app, [each.pull for each in read])
    with DeadlineExecutor(1, "changes") as crew:
        changes = crew.submit(read_changes, app, pulls)
        return _read_pulls(app, pulls, use, progress), wait_for_result(changes)


def write_overview(app: App, digest: Digest) -> Overview:
    """Write the overview of a day: one more model call on its summaries and on what else is known of it.

    Numbers that are not of the day are dropped, and sentences with names that it does not have. Without an answer
    there are counts.
    """
    entries, repository, day = digest.entries, digest.repository, digest.day
    if not entries:
        return Overview("Nothing was merged.")
    name, prices = app.settings.prdigest_answer_model, app.provider.prices
    if app.model is None:
        return _count_areas(entries, Fallback(FallbackReason.NO_MODEL), 0.0)
    try:
        prompt = build_overview_prompt(name, repository, day, entries, list_known_facts(digest))
        answer = request_answer(app, app.model, prompt, OverviewAnswer)
    except ModelError as error:
        log.info("no model overview of %s on %s: %s", repository, day.date, error)
        return _count_areas(entries, explain_fallback(error), prices.cost(name, error.usage))
    paired = (number for each in digest.outcomes for number in (each.pull.number, each.by.number))
    text = remove_unknown_numbers(answer.value.overview, digest.numbers.union(paired))
    cost = prices.cost(name, answer.usage)
    # who has read the changes before names more than the prompt
    if whole := text if app.sources.stands_in else remove_unknown_names(text, prompt.user):
        return Overview(whole, answer.from_cache, cost)
    return _count_areas(
        entries, Fallback(FallbackReason.MODEL_FAILED, "its paragraph had no usable sentence"), cost
    )


def _count_areas(entries: Sequence[Entry], fallback: Fallback, cost: float | None) -> Overview:
    trivial = sum(entry.summary.is_trivial for entry in entries)
    areas = Counter(entry.area for entry in entries if not entry.summary.is_trivial).most_common(_MAX_AREAS)
    sentences = [f"Most of it in {', '.join(f'{area} ({count})' for area, count in areas)}."] if areas else []
    sentences += [f"{format_count(trivial, 'pull request')} changed no product code."] if trivial else []
    return Overview(" ".join(sentences), cost=cost, fallback=fallback)


# --- what the merges of a day mean for a profile


@dataclass(frozen=True, slots=True)
class TouchedDay:
    """The report on some merges, and what each of them changes for others.

    Without a profile there is no report. ``coverage`` says why there is none with one. ``others`` is what other
    downstreams did about those that touch, by number.
    """

    report: TouchReport | None = None
    contracts: tuple[MergeContract, ...] = ()
    coverage: Coverage = COMPLETE
    others: Mapping[int, OthersOfMerge] = field(default_factory=dict)

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the merges that touch."""
        return (
            frozenset(each.number for each in self.report.touching.ignore_coverage())
            if self.report
            else frozenset()
        )


def read_touches(app: App, profile: str, pulls: Sequence[PullRequest], *, is_pending: bool = False) -> TouchedDay:
    """Return what merges mean for the profile of a name, and record its hits, which people are about to see.

    With ``is_pending``, only what waits since its pin counts. A problem is part of the result, not an error.
    Without a name, no store is opened for that.
    """
    if not profile:
        return TouchedDay()
    try:
        judged = attempt(profile, judge_merges, app, profile, pulls)
        if judged is None:
            return TouchedDay(coverage=Coverage.of(CoveredPart(f"what touches {profile}", 1, 0, READING_FAILED)))
        report, contracts = judged
        entry = app.profiles.find_entry(profile)
        note_shown(app, entry, report.touching.ignore_coverage(), pulls)
        if is_pending:
            if entry.pin is None:
                raise UsageError(f"{profile} names no commit that is known")
            closed = list_closed(app, profile, entry.upstream)
            waiting = report.touching.derive(lambda hits: (each for each in hits if each.number not in closed))
            report = replace(report, touching=waiting)
        numbers = {hit.number for hit in report.touching.ignore_coverage()}
        others = find_all_others(
            list_histories(app, entry.upstream), (pull for pull in pulls if pull.number in numbers)
        )
    except PrdigestError as error:
        log.warning("what touches %s is not known: %s", profile, error)
        unread = CoveredPart(f"what touches {profile}", 1, 0, str(error).rstrip("."))
        return TouchedDay(coverage=Coverage.of(unread))
    return TouchedDay(report, contracts, others=others)


def _read_profile_day(
    app: App, name: str, repository: Repository, day: LocalDay
) -> tuple[tuple[DeprecationStep, ...], tuple[ProfileMove, ...], PendingHits | None, tuple[OtherNews, ...]]:
    """Return what became on a day of the deprecations that a profile uses, and its moves to another commit.

    With these, earlier merges began or ceased to touch. Of a day that ended in the last one, also what waits since
    the pin; and what another downstream first did on the day about that. There are none without a name, or after a
    problem.
    """
    steps: tuple[DeprecationStep, ...] = ()
    moves: tuple[ProfileMove, ...] = ()
    pending: PendingHits | None = None
    news: tuple[OtherNews, ...] = ()
    try:
        if entry := app.profiles.get_entry(name) if name else None:
            moves = tuple(move for move in entry.moves if day.start <= move.at < day.end)
        if profile := app.profiles.get_profile(name) if name else None:
            steps = attempt(name, list_used_steps, app, repository, day.start, day.end, profile) or ()
            pending = attempt(name, find_pending, app, name) if app.now() - day.end < timedelta(days=1) else None
            news = attempt(name, find_news, app, name, day.start, day.end) or ()
    except PrdigestError as error:
        log.warning("what is deprecated of %s, or how it moved, is not known: %s", name, error)
    return steps, moves, pending, news


# --- what is shown of it


def build_days(app: App, spec: DigestSpec, use: DigestUse = DigestUse.POST, reader: str = "") -> MultiDayDigest:
    """Build the digest of each day, one after the other. Raises what :func:`build_digest` raises.

    A day without a list is returned as unknown. If no day has one, DayUnavailable is raised. ``reader`` is the
    person who reads it alone: what they mute is folded.
    """
    name, mutes = app.name_repository(spec.repository), load_mutes(app, reader)
    less_wanted = find_less_wanted(app, spec.channel)
    # a heading in another zone than the readers of the channel expect names it
    shows_zone = app.get_channel_zone(spec.channel) != spec.span.zone
    digests: list[Digest] = []
    unknown: list[UnknownDay] = []
    for day in spec.span.days:
        try:
            digest = build_digest(app, spec.repository, day, name, spec.view, use)
        except DayUnavailable as error:
            if day == spec.span.days[-1] and not digests:
                raise
            unknown.append(UnknownDay(day.date, error.short))
            continue
        # two weeks of patches take hundreds of megabytes, and reports show only paths
        entries = tuple(replace(entry, pull=entry.pull.remove_patches()) for entry in digest.entries)
        digest = replace(digest, entries=entries, shows_zone=shows_zone, less_wanted=less_wanted)
        digests.append(digest.fold_muted(mutes))
    tags, watched = _read_profile_week(app, spec)
    return MultiDayDigest(spec.span, tuple(digests), tuple(unknown), tags, watched)


def _read_profile_week(app: App, spec: DigestSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tags that appeared in several days, and what the only reader of a digest watches.

    There are none without a profile, or after a problem.
    """
    if not spec.view.profile or len(spec.span) == 1:
        return (), ()
    days, repository = spec.span.days, spec.repository
    try:
        entry = app.profiles.find_entry(spec.view.profile)
        appeared = list_appeared(app, repository, days[0].start, days[-1].end)
        tags = [name for name in appeared if concerns_pin(Tag(name, days[-1].end), entry)]
        reader = app.directory.fetch_channel(spec.channel).user if spec.channel.startswith("D") else ""
        watched = list_watched(app, repository, reader) if reader else []
    except PrdigestError as error:
        log.warning("what else came for %s is not known: %s", spec.view.profile, error)
        return (), ()
    return tuple(tags), tuple(map(describe_watch, watched))


def compose_messages(
    app: App, spec: DigestSpec, notes: Sequence[str] = (), use: DigestUse = DigestUse.POST, reader: str = ""
) -> RenderedDigest:
    """Build a digest and render its messages: one day as a digest, several as an overview with one thread."""
    whole = _add_lessons(app, spec.view.profile, build_days(app, spec, use, reader))
    return render_digest(whole if len(spec.span) > 1 else whole.digests[0], notes)


def _add_lessons(app: App, profile: str, whole: MultiDayDigest) -> MultiDayDigest:
    """Add how the team adapted before to what the thread shows. If that fails, the digest only says so."""
    reports = [digest.touches for digest in whole.digests if digest.touches]
    hits = [hit for report in reports for hit in report.touching.ignore_coverage()[:MAX_HITS]]
    if not hits:
        return whole
    try:
        known = attempt(profile, read_hit_lessons, app, app.profiles.find_entry(profile), hits)
        lessons = known or TeamLessons({}, READING_FAILED)
    except PrdigestError as error:
        lessons = TeamLessons({}, str(error).rstrip("."))
    # the first day with hits says for all what was not read
    first = next(each for each in whole.digests if each.touches and not each.touches.touching.is_empty)
    later = replace(lessons, gap="")
    shown = (replace(each, lessons=lessons if each is first else later) for each in whole.digests)
    return replace(whole, digests=tuple(shown))


@job("overview", QueueName.LONG, LONG_RETRIES)
def answer_overview(app: App, asker: SlackRequest, request: DigestRequest, audience: Audience) -> None:
    def build() -> Answer:
        known = request.require_known(app.repositories)
        app.require_presence(asker)
        view = app.profiles.require_view(known.view, known.repository)
        reader = asker.find_lone_reader(audience)
        return build_overview(app, replace(known, view=view), asker.name, asker.channel, reader)

    narrowed = f", {request.view}" if str(request.view) else ""
    doing = f"Looking at {request.span.title}{narrowed}… Days I haven't processed yet take about a minute each."
    app.replies.give_answer(asker, "overview", audience, build, doing)


def build_overview(app: App, request: DigestRequest, asker: str, channel: str, reader: str = "") -> Answer:
    """Return the overview of some days for the readers of a channel; ``asker`` is a name, or empty."""
    spec = DigestSpec(channel, request.repository, request.span, request.view)
    overview = build_days(app, spec, reader=reader)
    menu = make_details_menu(entry.pull for entry in overview.combined.riskiest_entries)
    # what building it cost is in the message, and differs each time
    share = Share(SHARE_DIGEST, request, compute_fingerprint(overview))
    muted = make_muted_button([entry.pull for entry in overview.combined.muted])
    post = add_buttons(render_catch_up(overview), muted)
    return build_answer(asker, post, share, menu, SubjectKind.DIGEST.format_subject(request))


def render_kept_report(app: App, repository: Repository, day: LocalDay, name: str) -> str:
    """Return the report of a day whose digest was made, in Markdown; UsageError says that there is none yet."""
    pulls = app.day_lists.list_merged(repository, day).pulls
    if pulls and not any(get_summary(app, Reference(repository, pull.number)) for pull in pulls):
        raise UsageError(
            f"There is no report of {repository} on {day.date} yet: it comes with the digest of that day; "
            "list_pull_requests has the facts."
        )
    return render_report(build_digest(app, repository, day, name, use=DigestUse.KEPT))
