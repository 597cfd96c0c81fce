"""Entries of single pull requests, kept once they are read, and what shows them: ``/prsummary`` and "Details"."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.app import App
from bot.errors import RateLimited, UsageError
from bot.features.merges.others import find_others
from bot.features.merges.requests import SubjectKind, SummaryRequest
from bot.features.merges.summary import SummarisedPullRequest
from bot.features.merges.view import Entry, LeadRule
from bot.features.noise.rules import UseKind
from bot.features.noise.service import note_use
from bot.features.profiles.others import list_histories
from bot.features.reviews.service import get_review
from bot.features.summaries.reading import SUMMARY_VERSION, read_pull_request
from bot.features.summaries.view import (
    View,
    render_details,
    render_error_view,
    render_loading_view,
    render_reference_form,
    render_summary,
)
from bot.platform import deadlines
from bot.platform.costs import Expense, get_account
from bot.platform.jobs import job
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import SHARE_SUMMARY, make_details_button
from bot.platform.slack.replies import ModalPresenter
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.tables import Table
from bot.platform.worker_threads import DeadlineExecutor, wait_for_result

# of the five messages that a response_url takes, these are for summaries; others say that it takes longer, or why
_MAX_PRIVATE_POSTS = 2

_LONGEST_DIGEST = timedelta(days=4)  # after a weekend, one is of several days
SUMMARY_DAYS = 90  # that a summary is kept
ENTRIES = Table(
    "entry:{version}:{reference}",
    SummarisedPullRequest,
    "a pull request as it was read",
    days=SUMMARY_DAYS,
    survives_reset=True,
    counted_as="summaries",
)


# --- what was read, kept without patches, which are cached with the files and would be by far the largest part


def refresh_summary(app: App, pull: PullRequest) -> SummarisedPullRequest:
    """Read a pull request again, whatever is cached of it; a summary that exists is not made again."""
    read = read_pull_request(app, pull)
    # an open pull request will change, and a model that was away may be back
    if pull.is_merged and not read.summary.is_fallback:
        keep_summary(app, replace(read, pull=read.pull.remove_patches()))
    return read


def keep_summary(app: App, read: SummarisedPullRequest) -> None:
    """Keep what was read of a merged pull request, without its patches. Raises StoreUnavailable."""
    app.cached.put(ENTRIES, read, *_build_key(app, Reference(read.pull.repository, read.pull.number)))


def get_summary(app: App, reference: Reference) -> SummarisedPullRequest | None:
    """Return what is cached of a pull request, or None; without patches. Raises StoreUnavailable."""
    read = app.cached.get(ENTRIES, *_build_key(app, reference))
    if read is None:
        return None
    get_account().add_expense(Expense(cache_hits=1))
    return replace(read, from_cache=True, cost=0.0)


def _build_key(app: App, reference: Reference) -> tuple[str, Reference]:
    model, tokens = app.settings.prdigest_summary_model, app.settings.prdigest_diff_tokens
    classes = app.paths.get_path_classes(reference.repository)
    made_with = f"{model} {SUMMARY_VERSION} {tokens} {classes.fingerprint}"
    return hashlib.sha256(made_with.encode()).hexdigest()[:12], reference


# --- entries: rated each time that they are shown, since history changes


def build_entry(app: App, read: SummarisedPullRequest) -> Entry:
    entry = Entry.from_summarised(read, app.timeline.assess_risk(read.pull), get_review(app, read.pull))
    return entry.close_findings(app.timeline.find_outcomes(read.pull)) if entry.findings else entry


def list_lead_rules(app: App, pull: PullRequest) -> tuple[LeadRule, ...]:
    """Return why a merge had lines in the leads of the digests with it, each reason once."""
    keys = app.list_digest_keys(pull.repository, pull.merge_time, pull.merge_time + _LONGEST_DIGEST)
    kept = (record.ratings for _, record in app.digest_records.iterate_records(keys))
    rated = (each for ratings in kept if ratings for each in ratings.rated if each.number == pull.number)
    return tuple(dict.fromkeys(rule for each in rated for rule in each.lead))


def get_cached_entry(app: App, reference: Reference) -> Entry | None:
    """Return what is cached of a pull request, rated, or None; without patches."""
    read = get_summary(app, reference)
    return build_entry(app, read) if read else None


def get_entry(app: App, reference: Reference) -> Entry:
    """Return the pull request of a reference, without patches. Raises UsageError if it was closed unmerged."""
    if cached := get_cached_entry(app, reference):
        return cached
    pull = app.pulls.fetch_pull_request(reference.repository, reference.number)
    if not pull.is_merged:
        if pull.state == "CLOSED":
            raise UsageError(f"#{pull.number} was closed without being merged: there is nothing to summarize.")
        return _read_entry(app, pull)
    with app.cached.hold_lease(ENTRIES, *_build_key(app, reference)):
        # the previous holder has most likely read the same
        return get_cached_entry(app, reference) or _read_entry(app, pull)


def _read_entry(app: App, pull: PullRequest) -> Entry:
    read = refresh_summary(app, pull)
    return build_entry(app, replace(read, pull=read.pull.remove_patches()))


def note_merges(app: App, asker: SlackRequest, kind: UseKind, references: Iterable[Reference]) -> None:
    """Note by their areas that the asker made use of merges; of what is not summarized, that they did so."""
    areas = [read.area for reference in references if (read := get_summary(app, reference))]
    note_use(app, asker, kind, *(areas or [""]))


# --- answers


@job("summary")
def answer_summaries(app: App, asker: SlackRequest, request: SummaryRequest, audience: Audience) -> None:
    """Build all summaries at once, and give them in the order of the request."""
    asker = app.directory.choose_conversation(asker)
    request = request.require_known(app.repositories)
    with deadlines.reserve_time(app.replies.response_times.reply_reserve):
        executor = DeadlineExecutor(len(request.references), "summary")
        answers = [executor.submit(build_summary_answer, app, each, asker.name) for each in request.references]
    started = f"Looking at {', '.join(f'#{reference.number}' for reference in request.references)}…"
    if len(answers) > 1 and asker.response_url:
        if audience is Audience.ASKER or not app.directory.can_post(asker):
            # the asker alone gets all in few messages: a response_url takes five in all
            def join() -> Answer:
                made = [app.replies.make_or_explain(asker, partial(wait_for_result, each)) for each in answers]
                return Answer.merge(made, _MAX_PRIVATE_POSTS)

            app.replies.give_answer(asker, "together", Audience.ASKER, join, started)
            return
        # who asks about a message is reached in its thread
        asker = replace(asker, response_url="") if asker.message else asker
    rate_limit: RateLimited | None = None
    for reference, answer in zip(request.references, answers, strict=True):
        try:
            app.replies.give_answer(asker, str(reference), audience, partial(wait_for_result, answer), started)
        except RateLimited as error:
            # the others need not wait for the end of the limit
            rate_limit = error
    if rate_limit:
        raise rate_limit


def build_summary_answer(app: App, reference: Reference, asker: str) -> Answer:
    entry, request = get_entry(app, reference), SummaryRequest((reference,))
    return build_answer(
        asker,
        render_summary(entry, app.settings.prdigest_timezone),
        Share(SHARE_SUMMARY, request),
        make_details_button(entry.pull),
        SubjectKind.SUMMARY.format_subject(request),
    )


@job("details")
def show_details(app: App, asker: SlackRequest, reference: Reference) -> None:
    """Open a window about a pull request within three seconds of its ``trigger``, the same again, and fill it."""
    known = Reference(app.repositories.require_known(reference.repository), reference.number)
    zone, windows = app.settings.prdigest_timezone, ModalPresenter(app.views, app.replies)
    cached = get_cached_entry(app, known)

    def render(entry: Entry) -> View:
        rules = list_lead_rules(app, entry.pull) if entry.pull.is_merged else ()
        others = find_others(list_histories(app, known.repository), entry.pull)
        return render_details(entry, zone, rules, others)

    first = render(cached) if cached else render_loading_view(known)
    if windows.open_modal(asker, asker.trigger, first) and not cached:
        windows.fill_modal(
            asker,
            lambda: render(get_entry(app, known)),
            lambda error: render_error_view(error, asker.reference, known.number),
        )
    note_merges(app, asker, UseKind.OPENED, [known])


@job("reference_form")
def open_reference_form(app: App, asker: SlackRequest) -> None:
    """Open the form that asks for a pull request; Slack accepts a trigger for three seconds."""
    ModalPresenter(app.views, app.replies).open_modal(asker, asker.trigger, render_reference_form())
