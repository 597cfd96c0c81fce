"""What the other downstreams did about what waits for a profile: read here, and told once in a day's digest."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.app import App
from bot.features.merges.others import find_others
from bot.features.profiles.others import list_histories, refresh_others
from bot.features.touches.checking import check_merges
from bot.features.touches.contracts import list_kept_contracts
from bot.features.touches.decisions import get_last_decisions
from bot.features.touches.lines import OtherNews, TouchVerdict
from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from impact.clones.followers import REACH, ChangedNames, list_changed_names
from impact.repository import Repository
from impact.touches.judgement import judge_merges
from impact.touches.models import TouchLevel


# after a failure, the next look is some hours later; what was known stays
@job("read_others", QueueName.LONG, JobRetries(2, MINUTE))
def read_others(app: App, upstream: Repository) -> None:
    """Read the other downstreams of an upstream again, by what is kept of the merges that they may follow."""
    if list_histories(app, upstream):
        merges = app.merge_history.read_merges(upstream, app.now() - REACH, app.now() + timedelta(days=1))
        contracts = filter(None, list_kept_contracts(app, merges))
        # a merge of which nothing is kept can be named, too
        names = {pull.number: ChangedNames(pull.number, pull.merge_time, {}) for pull in merges}
        refresh_others(app, upstream, names | {each.number: list_changed_names(each) for each in contracts})


def find_news(app: App, name: str, start: datetime, end: datetime) -> tuple[OtherNews, ...]:
    """Return the merges that may break a profile since its pin, and that another first followed in some time.

    Of those that only touch it, hardly any needed a change. Raises StoreUnavailable.
    """
    entry, profile = app.profiles.get_entry(name), app.profiles.get_profile(name)
    if entry is None or profile is None or entry.pin is None:
        return ()
    histories, first = list_histories(app, entry.upstream), dict[int, datetime]()
    # a team's own repository is none of the others
    others = [each for each in histories if str(each.repository).lower() != str(entry.source).lower()]
    for seen in sorted((one for each in others for one in each.commits), key=lambda one: one.seen_at):
        first.setdefault(seen.followed.number, seen.seen_at)
    fresh = {number for number, at in first.items() if start <= at < end}
    if not fresh:
        return ()
    merges = app.merge_history.read_merges(entry.upstream, entry.pin.merged_at, app.now() + timedelta(days=1))
    decisions = get_last_decisions(app, name, entry.upstream)
    waiting = {
        pull.number: pull
        for pull in merges
        if pull.number in fresh and pull.merge_time > entry.pin.merged_at and not pull.other_branch
        if pull.number not in decisions or decisions[pull.number].verdict is TouchVerdict.OURS
    }
    contracts = [each for each in list_kept_contracts(app, waiting.values()) if each]
    report = judge_merges(name, profile, contracts, checked=check_merges(app, profile, contracts))
    return tuple(
        OtherNews(waiting[hit.number], find_others(others, waiting[hit.number]).commits[0], hit.level)
        for hit in report.touching.ignore_coverage()
        if hit.level > TouchLevel.TOUCHES
    )
