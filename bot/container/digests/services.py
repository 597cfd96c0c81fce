"""The services that read, rate and summarise pull requests, and build digests of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.adapters.caching import DayListCache, FileCache, OngoingDayCache
from bot.container.connections.from_settings import load_path_settings
from bot.container.costs import CostServices, build_cost_services
from bot.container.digests.code import build_source_files
from bot.container.digests.history import HistoryServices, build_history_services, build_merge_timeline
from bot.container.digests.reviews import build_bug_reviews
from bot.container.foundation import Foundation
from bot.domain.pull_requests.path_classes import PathSettings
from bot.ports import PullRequests
from bot.services.digest.builder import (
    DigestBuilder,
    DigestDependencies,
    EntryReviewer,
    OverviewBuilder,
)
from bot.services.digest.overview_writer import OverviewWriter, skip_overview
from bot.services.digest.touched_day import (
    MoveLister,
    StepLister,
    TouchReader,
    skip_moves,
    skip_steps,
    skip_touches,
)
from bot.services.profile.known_profiles import NO_PROFILES, KnownProfiles
from bot.services.questions.background import ProfileLookup, find_no_profile
from bot.services.review.day_reviewer import DayReviewer, KeptReviewer
from bot.services.review.kept_reviews import BugReviews
from bot.services.source.mirror_updates import update_mirror
from bot.services.summaries.entry_cache import EntryCache, ReviewLookup
from bot.services.summaries.prompts import SUMMARY_VERSION
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.source_reader import SourceReader
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.services.summaries.summarizer import Summariser
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class DigestServices:
    """What a digest is built with.

    ``pulls`` reads pull requests, their files through the cache; ``day_lists`` takes the lists of past days from
    the cache, too. ``entries`` keeps what ``reader`` makes of single pull requests. ``reviews`` keeps the reviews
    for bugs; None if there are none. ``profiles`` are those that merges may be checked against by
    ``read_touches``; ``list_steps`` says what became of the deprecations that they use, and
    ``list_moves`` how they moved.
    """

    pulls: PullRequests
    day_lists: PullRequests
    paths: PathSettings
    costs: CostServices
    history: HistoryServices
    completion: StructuredCompletion | None
    reader: PullRequestReader
    entries: EntryCache
    reviews: BugReviews | None
    profiles: KnownProfiles = NO_PROFILES
    read_touches: TouchReader = skip_touches
    list_steps: StepLister = skip_steps
    list_moves: MoveLister = skip_moves
    get_profile: ProfileLookup = find_no_profile


def build_digest_services(base: Foundation) -> DigestServices:
    """Build them. Neither Slack nor a store for permanent records is needed.

    Raises:
        ConfigurationError: a setting of GitHub is missing, or the file of path classes can't be used.
        StoreUnavailable: the store can't be opened.
    """
    pulls = build_pull_requests(base)
    paths, costs = load_path_settings(base.settings), build_cost_services(base)
    history, reviews = build_history_services(base, pulls, paths), build_bug_reviews(base, costs, paths)
    completion = _build_completion(base, costs)
    reader = PullRequestReader(
        pulls, _build_summariser(base, completion, paths).summarise_pull_request, paths.get_path_classes
    )
    return DigestServices(
        pulls=pulls,
        day_lists=DayListCache(pulls, base.cache, base.now),
        paths=paths,
        costs=costs,
        history=history,
        completion=completion,
        reader=reader,
        entries=_build_entries(base, pulls, reader, history, paths, _build_review_lookup(base, reviews)),
        reviews=reviews,
    )


def build_pull_requests(base: Foundation) -> PullRequests:
    """Build the source of pull requests, whose files go through the cache. Raises as ``build_digest_services``."""
    return FileCache(base.sources.pulls, base.cache)


def build_digest_builder(base: Foundation, digests: DigestServices, pulls: PullRequests) -> DigestBuilder:
    """Build the builder of digests of the days that ``pulls`` lists."""
    return _build_builder(
        base, digests, pulls, _build_overview_builder(base, digests), build_day_reviews(base, digests)
    )


def build_preview_builder(base: Foundation, digests: DigestServices, pulls: PullRequests) -> DigestBuilder:
    """Build the same with the reviews alone that are kept: a preview is looked at by one person."""
    return _build_builder(
        base, digests, pulls, _build_overview_builder(base, digests), build_kept_reviews(digests)
    )


def build_report_builder(base: Foundation, digests: DigestServices) -> DigestBuilder:
    """Build the builder of digests without an overview: a report shows none."""
    return _build_builder(base, digests, digests.pulls, skip_overview, build_kept_reviews(digests))


def _build_builder(
    base: Foundation,
    digests: DigestServices,
    pulls: PullRequests,
    overview: OverviewBuilder,
    reviews: EntryReviewer,
) -> DigestBuilder:
    history = digests.history
    ongoing = OngoingDayCache(pulls, base.cache, base.now)
    dependencies = DigestDependencies(
        build_merge_timeline(base, ongoing.list_merged, digests.paths).load_day_context,
        history.timeline.record_merges,
        history.track_record.is_reduced,
        partial(update_mirror, base.sources.source_mirror),
        reviews,
        digests.read_touches,
        digests.list_steps,
        digests.list_moves,
    )
    return DigestBuilder(
        pulls,
        digests.entries.refresh_summary,
        overview,
        digests.reader.load_files,
        base.settings.prdigest_concurrency,
        digests.paths.get_path_classes,
        dependencies,
    )


def build_day_reviews(base: Foundation, digests: DigestServices) -> EntryReviewer:
    """Build what reviews the pull requests of a day, if there is a model and a budget for that."""
    if digests.reviews is None:
        return build_kept_reviews(digests)
    reviewer = DayReviewer(digests.reviews, digests.costs.reviews, base.settings.prdigest_concurrency)
    return reviewer.review_entries


def build_kept_reviews(digests: DigestServices) -> EntryReviewer:
    """Build what adds the reviews that exist, for digests that cost nothing."""
    return KeptReviewer(digests.entries.get_review).review_entries


def _build_overview_builder(base: Foundation, digests: DigestServices) -> OverviewBuilder:
    return OverviewWriter(digests.completion, base.settings.prdigest_answer_model).write_overview


def _build_review_lookup(base: Foundation, reviews: BugReviews | None) -> ReviewLookup:
    """Build the lookup of reviews that exist: those that are kept, or those of a sample."""
    return reviews.get_cached_review if reviews else base.sources.get_written_review


def _build_completion(base: Foundation, costs: CostServices) -> StructuredCompletion | None:
    model = base.sources.model
    if model is None:
        return None
    return StructuredCompletion(costs.add_meter(model), base.cache, base.sleep, base.provider.prices)


def _build_summariser(
    base: Foundation, completion: StructuredCompletion | None, paths: PathSettings
) -> Summariser:
    settings = base.settings
    return Summariser(
        completion,
        settings.prdigest_summary_model,
        settings.prdigest_diff_tokens,
        paths.get_path_classes,
        must_prove=not base.sources.stands_in,
        read_sources=SourceReader(build_source_files(base)).read_sources,
    )


def name_summary_version(settings: Settings) -> str:
    """Return a text that names all that a summary depends on besides its pull request and its path classes."""
    return f"{settings.prdigest_summary_model} {SUMMARY_VERSION} {settings.prdigest_diff_tokens}"


def _build_entries(
    base: Foundation,
    pulls: PullRequests,
    reader: PullRequestReader,
    history: HistoryServices,
    paths: PathSettings,
    get_review: ReviewLookup,
) -> EntryCache:
    return EntryCache(
        pulls,
        reader,
        base.cache,
        name_summary_version(base.settings),
        history.timeline.assess_risk,
        paths.get_path_classes,
        get_review,
    )
