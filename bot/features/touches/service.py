"""What merges mean for a team's code, judged by its profile, and the answers to what people ask about that."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.app import App
from bot.dates import Span, get_today, parse_span
from bot.errors import MirrorUnavailable, SlackCallRefused, SourceUnavailable, TimeLimitExceeded, UsageError
from bot.features.merges.others import find_all_others
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.requests import MAX_DIGEST_DAYS, DigestRequest, DigestView, SubjectKind, SummaryRequest
from bot.features.profiles.others import list_histories
from bot.features.profiles.scanning import find_pin
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.touches.checking import check_merges, check_way
from bot.features.touches.contracts import (
    build_contract_list,
    list_deprecations,
    list_kept_contracts,
    list_merges,
    list_own_merges,
    read_contracts,
    state_deprecations,
)
from bot.features.touches.decisions import (
    add_decisions,
    get_last_decisions,
    list_closed,
    list_decisions,
    note_shown,
    score_hits,
)
from bot.features.touches.lines import NO_SPENT, HitContext, HitVote, PendingHits, render_hit_lessons, render_spent
from bot.features.touches.requests import (
    MAX_BROKE_DAYS,
    MAX_CONTRACT_DAYS,
    MAX_UPGRADE_DAYS,
    BrokeRequest,
    ContractRequest,
    DeprecationsRequest,
    PendingRequest,
    TouchesRequest,
    TouchScoreRequest,
    UpgradeRequest,
)
from bot.features.touches.team_history import find_spent, read_hit_lessons
from bot.features.touches.upgrade_view import render_upgrade_file, render_upgrade_post
from bot.features.touches.view import (
    MAX_ROWS,
    render_contract_file,
    render_contract_list,
    render_deprecations,
    render_suspects,
    render_touch_list,
    render_touch_score,
)
from bot.platform import deadlines
from bot.platform.commands import CommandRequest
from bot.platform.git.tag_history import CommitWay
from bot.platform.jobs import LONG_RETRIES, QueueName, job
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.platform.slack.blocks import SHARE_DIGEST, Element, Post, make_details_menu
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.source.reading import update_mirror
from bot.platform.store.keys import parse_digest_key
from bot.platform.worker_threads import note_progress
from bot.text import format_count
from impact.contract.deprecations import DeprecationState
from impact.contract.models import MergeContract, cover_contracts
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart
from impact.history.outcomes import find_outcomes
from impact.history.reverts import list_reverted_numbers, select_standing
from impact.profile.models import Profile
from impact.repository import Repository
from impact.source.models import is_tag
from impact.text.strings import quote_input
from impact.touches.breakage.explanations import Kinship
from impact.touches.breakage.suspects import SuspectRange, SuspectReport, build_report
from impact.touches.breakage.traceback_names import parse_trace
from impact.touches.judgement import judge_merges as judge_contracts
from impact.touches.models import TouchReport
from impact.touches.profile_index import ProfileIndex
from impact.touches.spent import SpentUse
from impact.touches.upgrade import UpgradePlan, UpgradeRange, build_upgrade_plan

log = logging.getLogger(__name__)

_MAX_SUSPECTS = 5
# merges since a pin that are judged for one answer, the last ones; vLLM has some 900 a month
_MAX_PENDING = 1_500
# functions that may go, in an answer
_MAX_SPENT = 6
# merges of a way between two looks at how far it is
_STEP = 50


def find_entry(app: App, profile: str) -> ProfileEntry:
    """Return the entry of a profile. Raises UsageError if there is none, or its upstream is not allowed."""
    entry = app.profiles.find_entry(profile)
    app.repositories.require_known(entry.upstream)
    return entry


def find_profile(app: App, name: str, repository: Repository) -> Profile | None:
    """Return a profile by its name, None without one. Raises UsageError for one of another repository."""
    if not name:
        return None
    entry = find_entry(app, name)
    if str(entry.upstream).casefold() != str(repository).casefold():
        raise UsageError(f"The profile {entry.name} builds on {entry.upstream}: add repo:{entry.upstream}.")
    return app.profiles.require_scanned(entry)


def judge_merges(
    app: App, profile_name: str, pulls: Sequence[PullRequest], coverage: Coverage = COMPLETE
) -> tuple[TouchReport, tuple[MergeContract, ...]]:
    """Return what merged pull requests mean for a profile, and the contracts by which that is judged.

    They are judged each time by the profile as it is now: a file that uses a name may come after its change. Pull
    requests of another repository than the profile's upstream, or into another than its default branch, are left
    out. Raises UsageError: there is no such profile, or it was not scanned yet; StoreUnavailable: the store does
    not answer.
    """
    entry = app.profiles.find_entry(profile_name)
    profile, upstream = app.profiles.require_scanned(entry), str(entry.upstream).lower()
    merged = (pull for pull in pulls if pull.is_merged and not pull.other_branch)
    merges = [pull for pull in merged if str(pull.repository).lower() == upstream]
    if app.starts_checks and merges:
        update_mirror(app.sources.source_mirror, entry.upstream)
    contracts = read_contracts(app, merges)
    checked = check_merges(app, profile, contracts, entry)
    return judge_contracts(entry.name, profile, contracts, coverage + entry.coverage, checked), contracts


def find_pending(app: App, name: str) -> PendingHits | None:
    """Return what waits for a profile since its pin, by the contracts that are kept; None without a pin.

    What people closed, what closed itself and what was reverted does not wait. Raises StoreUnavailable.
    """
    entry, profile = app.profiles.get_entry(name), app.profiles.get_profile(name)
    if entry is None or profile is None or entry.pin is None:
        return None
    return judge_pending(app, entry, profile, entry.pin)[0]


def judge_pending(
    app: App,
    entry: ProfileEntry,
    profile: Profile,
    pin: PinnedMerge,
    *,
    has_spent: bool = True,
    way: CommitWay | None = None,
) -> tuple[PendingHits, TouchReport, list[MergeContract]]:
    """Return what waits since a pin, the report on it, and what was judged.

    To look for what may go, with ``has_spent``, takes seconds. With the ``way`` to a tag, only its merges count.
    """
    name, upstream, now = entry.name, entry.upstream, app.now()
    # with the day of the pin, to see whether that was listed
    listed = app.merge_history.read_merges(upstream, pin.merged_at - timedelta(days=1), now)
    first, unlisted = listed[-1].merge_time if listed else now, 0
    if way:
        unlisted = len({*way.commits.values()} - {0, *(each.number for each in listed)})
        listed = tuple(each for each in listed if way.has_merge(each.commit, each.number))
    later = (each for each in listed if each.merge_time > pin.merged_at and not each.other_branch)
    held = list_copied(app, upstream, pin)
    merges = {each.number: each for each in later if each.number not in held}
    kept = [each for each in list_kept_contracts(app, list(merges.values())[:_MAX_PENDING]) if each]
    reverts, read = RevertIndex(listed).reverts, {each.number for each in kept}
    standing = select_standing(reverts, listed)
    # what was taken back and has landed again is a hit of the merge that brought it back
    back = {each.number for each in standing if not each.is_partial and each.by in read}
    again = {each.number for each in reverts if not each.is_partial and each.by in back}
    closed = list_reverted_numbers(standing) | again | list_closed(app, name, upstream)
    waiting = [each for each in kept if each.number not in closed]
    known_since = None if first <= pin.merged_at else first.date()
    unread, total = len(merges) - len(kept) + unlisted, len(merges) + unlisted
    coverage = Coverage.of(
        CoveredPart("merges since your pin", unread, total, "no digest had them"),
        CoveredPart(f"merges before {known_since}", int(known_since is not None)),
    )
    report = judge_contracts(name, profile, waiting, coverage, check_merges(app, profile, waiting))
    hits = [merges[hit.number] for hit in report.touching.ignore_coverage()]
    hits.sort(key=lambda pull: pull.merge_time)
    line = (each.commit for each in merges.values() if way is None or each.commit in way.commits)
    newest = next(line, pin.commit)
    pending = PendingHits(
        pin.label,
        (now - pin.merged_at).days,
        tuple(hits),
        len(merges),
        len(merges) - sum(cover_contracts([each]).is_complete for each in kept),
        known_since,
        find_spent(app, entry, profile, pin.commit, newest, [*merges.values()]) if has_spent else NO_SPENT,
    )
    return pending, report, waiting


def list_copied(app: App, upstream: Repository, pin: PinnedMerge) -> frozenset[int]:
    """Return the merges that a pinned tag has as copies: its commit is the last one of the default branch in it.

    Without the commits, which are not brought up to date for it, none.
    """
    history = app.sources.tag_history if is_tag(pin.name) else None
    try:
        tags = history.list_tags(upstream) if history else ()
        commit = next((each.commit for each in tags if each.name == pin.name), "")
        return history.list_way(upstream, pin.commit, commit).copied if history and commit else frozenset()
    except (MirrorUnavailable, SourceUnavailable) as error:
        log.info("what was copied to %s of %s is not known: %s", pin.name, upstream, error)
        return frozenset()


# --- contract changes and deprecations


@job("contract")
def answer_contract(app: App, asker: SlackRequest, request: ContractRequest, audience: Audience) -> None:
    narrowed = f", {request.filters}" if request.filters else ""
    started = f"Reading what {request.repository} changed for others, {request.span.title}{narrowed}…"

    def make() -> Answer:
        known = request.require_known(app.repositories)
        contract_list = build_contract_list(app, known)
        changed = {contract.number for contract in contract_list.contracts.ignore_coverage() if contract.changes}
        menu = make_details_menu(pull for pull in contract_list.pulls if pull.number in changed)
        about = _format_subject(known.repository, known.span)
        answer = _build(asker, known, render_contract_list(contract_list), menu, about)
        return replace(answer, attachment=render_contract_file(contract_list))

    app.replies.give_answer(asker, "contract", audience, make, started)


answer_long_contract = job("long_contract", QueueName.LONG, LONG_RETRIES)(answer_contract.run)


@job("deprecations")
def answer_deprecations(app: App, asker: SlackRequest, request: DeprecationsRequest, audience: Audience) -> None:
    def make() -> Answer:
        known = request.require_known(app.repositories)
        repository = known.repository
        entries = list_deprecations(app, repository, find_profile(app, known.profile, repository))
        url = f"{app.repositories.web}/{repository}"
        return _build(asker, known, render_deprecations(app.name_repository(repository), entries, url))

    started = f"Looking up what {request.repository} will remove…"
    app.replies.give_answer(asker, "deprecations", audience, make, started)


# --- hits


@job("touches")
def answer_touches(app: App, asker: SlackRequest, request: TouchesRequest, audience: Audience) -> None:
    def make() -> Answer:
        entry = find_entry(app, request.profile)
        merged = list_own_merges(app, entry.upstream, request.span)
        report, _ = judge_merges(app, entry.name, merged.pulls, merged.coverage)
        pending = find_pending(app, entry.name)
        title = f"What touches {entry.name[:40]} · {app.name_repository(entry.upstream)} · {request.span.title}"
        about = _format_subject(entry.upstream, request.span, entry.name)
        since = min((pull.merge_time for pull in merged.pulls), default=app.now())
        outcomes = find_outcomes(RevertIndex(app.merge_history.read_merges(entry.upstream, since, app.now())))
        shown = (entry, report, merged.pulls, title, about, merged.notes, pending)
        return _list_hits(app, asker, request, *shown, outcomes=outcomes)

    started = f"Looking for what touches {request.profile or 'your code'}, {request.span.title}…"
    app.replies.give_answer(asker, "touches", audience, make, started)


def _list_hits(
    app: App,
    asker: SlackRequest,
    request: TouchesRequest | PendingRequest,
    entry: ProfileEntry,
    report: TouchReport,
    pulls: Sequence[PullRequest],
    title: str,
    about: str,
    notes: Sequence[str] = (),
    pending: PendingHits | None = None,
    spent: CoveredList[SpentUse] = NO_SPENT,
    outcomes: Iterable[MergeOutcome] = (),
) -> Answer:
    touching = report.touching.ignore_coverage()
    # before they are shown: what people press is about a hit that is on record
    note_shown(app, entry, touching, pulls)
    decisions = list_decisions(app, entry.name, entry.upstream)
    verdicts = {
        number: tuple(dict.fromkeys(each.words for each in made[: max(1, sum(bool(one.by) for one in made))]))
        for number, made in decisions.items()
    }
    known = read_hit_lessons(app, entry, touching[:MAX_ROWS])
    lessons = render_hit_lessons(touching[:MAX_ROWS], known)
    numbers = {merge.number for merge in touching}
    hits = (pull for pull in pulls if pull.number in numbers)
    others = find_all_others(list_histories(app, entry.upstream), hits)
    context = replace(HitContext.build(pulls, outcomes, others), lessons=lessons)
    post = render_touch_list(title, report, context, verdicts, (*notes, known.explain_gap()), pending)
    menu = make_details_menu(pull for pull in pulls if pull.number in numbers)
    last = {number: made[0] for number, made in decisions.items()}
    marked = add_decisions({"blocks": post.blocks}, last)
    blocks = (*marked["blocks"], *render_spent(spent, _MAX_SPENT))
    return _build(asker, request, replace(post, blocks=blocks), menu, about)


@job("pending")
def answer_pending(app: App, asker: SlackRequest, request: PendingRequest, audience: Audience) -> None:
    """List the hits since the pin of a profile that nobody closed, by what was read before."""

    def make() -> Answer:
        entry = find_entry(app, request.profile)
        profile = app.profiles.require_scanned(entry)
        if entry.pin is None:
            raise UsageError(f"{entry.name} names no commit of {entry.upstream} that I know: ask for touches 7d.")
        pending, report, _ = judge_pending(app, entry, profile, entry.pin)
        age = f"{pending.pin}, {format_count(pending.days, 'day')}"
        title = f"Pending for {entry.name[:40]} since its pin ({age})"
        today = app.get_today()
        span = Span(get_today(entry.pin.merged_at, today.zone).date, today.date, today.zone)
        about = _format_subject(entry.upstream, span, entry.name) if len(span) <= MAX_CONTRACT_DAYS else ""
        return _list_hits(app, asker, request, entry, report, pending.pulls, title, about, spent=pending.spent)

    app.replies.give_answer(asker, "pending", audience, make, "Looking for what waits since your pin…")


answer_long_touches = job("long_touches", QueueName.LONG, LONG_RETRIES)(answer_touches.run)


@job("touch_score")
def answer_touch_score(app: App, asker: SlackRequest, request: TouchScoreRequest, audience: Audience) -> None:
    def make() -> Answer:
        entry = find_entry(app, request.profile)
        return _build(asker, request, render_touch_score(entry.name, score_hits(app, entry.name)))

    app.replies.give_answer(asker, "touch_score", audience, make)


def show_vote(app: App, asker: SlackRequest, vote: HitVote, blocks_json: str) -> None:
    """Show a vote in the answer whose blocks these are. Digests are edited from their records instead."""
    if not blocks_json:
        return
    try:
        messages = app.messenger.list_messages(asker.channel, asker.existing_thread or asker.message)
        message = next((each for each in messages if each.ts == asker.message and each.is_own and each.key), None)
        if message is None or parse_digest_key(message.key.partition("#")[0]):
            return
        post = {"text": message.text, "blocks": json.loads(blocks_json)}
        decisions = get_last_decisions(app, vote.profile, vote.reference.repository)
        app.messenger.edit_message(
            asker.channel, asker.message, add_decisions(post, decisions), message.key, message.about
        )
    except SlackCallRefused as error:
        log.info("an answer in %s does not show what was said: %s", asker.channel, error)


# --- the way to a later commit


@job("upgrade", QueueName.LONG, LONG_RETRIES)
def answer_upgrade(app: App, asker: SlackRequest, request: UpgradeRequest, audience: Audience) -> None:
    def make() -> Answer:
        entry = find_entry(app, request.profile)
        pin, merge = find_pin(app, entry.upstream, request.start, app.profiles.require_scanned(entry))
        plan, url = plan_upgrade(app, merge, entry), f"{app.repositories.web}/{entry.upstream}"
        answer = _build(asker, request, render_upgrade_post(plan, url, pin))
        return (
            replace(answer, attachment=render_upgrade_file(plan, url, pin)) if not plan.files.is_empty else answer
        )

    started = f"Planning the upgrade from {request.start or 'your pin'}… Merges I haven't read yet take a while."
    app.replies.give_answer(asker, "upgrade", audience, make, started)


def plan_upgrade(app: App, pin: PullRequest, entry: ProfileEntry) -> UpgradePlan:
    """Plan the way from a merge to the last one.

    Raises UsageError if it is too long ago; RateLimited or TimeLimitExceeded if it takes longer, where what was
    read is kept.
    """
    profile = app.profiles.require_scanned(entry)
    merges, coverage = _list_since(app, entry.upstream, pin)
    contracts = _read_steps(app, merges)
    commits = [pin.commit, *(pull.commit for pull in merges)]
    deprecations = state_deprecations(app, entry.upstream)
    way = UpgradeRange(
        pin.commit,
        commits[-1],
        contracts,
        dict(zip(commits[1:], commits, strict=False)),
        select_standing(RevertIndex(merges).reverts, merges),
        deprecations=tuple(used.entry for state, used in deprecations if state is not DeprecationState.REMOVED),
        url=f"{pin.web}/{entry.upstream}",
        coverage=coverage + entry.coverage,
    )
    checked = check_way(app, profile, way.start, way.end, entry)
    spent = find_spent(app, entry, profile, way.start, way.end, merges)
    return replace(build_upgrade_plan(way, ProfileIndex(profile), checked), spent=spent)


def _list_since(app: App, upstream: Repository, pin: PullRequest) -> tuple[list[PullRequest], Coverage]:
    """Return the merges after another one, oldest first, and how much of their list was read."""
    today = app.get_today()
    span = Span(get_today(pin.merge_time, today.zone).date, today.date, today.zone)
    if len(span) > MAX_UPGRADE_DAYS:
        raise UsageError(
            f"That commit is {len(span)} days old, and I look back {MAX_UPGRADE_DAYS}: on a clone, run "
            f"prdigest upgrade --upstream CLONE --from {pin.commit[:10]} --profile NAME."
        )
    merged = list_merges(app, upstream, span)
    later = [pull for pull in merged.pulls if pull.merge_time > pin.merge_time and pull.base == pin.base]
    return sorted(later, key=lambda pull: (pull.merge_time, pull.number)), merged.coverage


def _read_steps(app: App, pulls: Sequence[PullRequest]) -> list[MergeContract]:
    """Return what each merge changes for others, in order. Another attempt continues where this one ended."""
    contracts: list[MergeContract] = []

    def note_all(done: int, _of_step: int) -> None:
        note_progress(len(contracts) + done, len(pulls))

    def read_step(step: Sequence[PullRequest]) -> Sequence[MergeContract]:
        if not deadlines.get_seconds_left():
            raise TimeLimitExceeded(deadlines.TOO_LONG)
        return read_contracts(app, step, must_wait=True, note=note_all)

    for start in range(0, len(pulls), _STEP):
        try:
            contracts += read_step(pulls[start : start + _STEP])
        except TimeLimitExceeded as error:
            raise TimeLimitExceeded(
                f"I have read {len(contracts):,} of {format_count(len(pulls), 'merge')}, and keep them: ask "
                "again, and I go on from there. On a clone, prdigest upgrade takes a few minutes."
            ) from error
    return contracts


# --- the merges that explain an error


@job("broke", QueueName.LONG, LONG_RETRIES)
def answer_broke(app: App, asker: SlackRequest, request: BrokeRequest, audience: Audience) -> None:
    def make() -> Answer:
        known = request.require_known(app.repositories)
        repository, report = known.repository, find_suspects(app, known)
        references = tuple(
            Reference(repository, each.number) for each in report.suspects.ignore_coverage() if each.number > 0
        )
        about = SubjectKind.SUMMARY.format_subject(SummaryRequest(references)) if references else ""
        post = render_suspects(app.name_repository(repository), repository, report)
        return _build(asker, known, post, None, about)

    started = f"Looking for what explains this error in {request.repository} since {request.since}…"
    app.replies.give_answer(asker, "broke", audience, make, started)


def find_suspects(app: App, request: BrokeRequest) -> SuspectReport:
    """Return the suspects for an error. A profile tells which classes a team derives from the repository's own."""
    span, after = _find_start(app, request)
    merged = list_own_merges(app, request.repository, span)
    pulls = [pull for pull in merged.pulls if after is None or pull.merge_time > after]
    entries = [entry for entry in app.profiles.list_entries() if entry.upstream == request.repository]
    profiles = [profile for entry in entries if (profile := app.profiles.get_profile(entry.name))]
    merges = SuspectRange.build(read_contracts(app, pulls), pulls, merged.coverage)
    trace, kinship = parse_trace(request.error), Kinship(profiles)
    return build_report(trace, merges, request.since, str(span.last), _MAX_SUSPECTS, kinship)


def _find_start(app: App, request: BrokeRequest) -> tuple[Span, datetime | None]:
    """Return the days to look at, and the instant after which merges count; None for all of the days."""
    if request.span:
        return request.span, None
    background = app.sources.background
    commits = background.find_merges(request.repository, [request.commit]) if background else {}
    pull = commits.get(request.commit)
    if pull is None or pull.merged_at is None:
        raise UsageError(
            f"I don't know the merge of {quote_input(request.commit)} in {request.repository}: name a day."
        )
    today = app.get_today()
    first = pull.merge_time.astimezone(today.zone).date()
    span = replace(parse_span("today", today, 1), first=min(first, today.date))
    if len(span) > MAX_BROKE_DAYS:
        raise UsageError(
            f"{request.since} was merged {len(span)} days ago: name one of the last {MAX_BROKE_DAYS} days."
        )
    return span, pull.merge_time


def _build(
    asker: SlackRequest, request: CommandRequest, post: Post, menu: Element | None = None, about: str = ""
) -> Answer:
    return build_answer(asker.name, post, Share(SHARE_DIGEST, request), menu, about)


def _format_subject(repository: Repository, span: Span, profile: str = "") -> str:
    """Return the subject of the thread; of a longer list no thread reads all days."""
    if len(span) > MAX_DIGEST_DAYS:
        return ""
    return SubjectKind.DIGEST.format_subject(DigestRequest(repository, span, view=DigestView(profile=profile)))
