"""What the other downstreams did about what waits for a profile: read here, and told once in a day's digest."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.app import App
from bot.features.merges.others import find_others
from bot.features.profiles.others import list_histories, refresh_others
from bot.features.touches.contracts import list_kept_contracts
from bot.features.touches.lines import OtherNews
from bot.features.touches.service import judge_pending
from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from impact.clones.followers import REACH, FollowedMerge, list_broken_names
from impact.repository import Repository
from impact.touches.models import TouchLevel


# after a failure, the next look is some hours later; what was known stays
@job("read_others", QueueName.LONG, JobRetries(2, MINUTE))
def read_others(app: App, upstream: Repository) -> None:
    """Read the other downstreams of an upstream again, by what is kept of the merges that they may follow."""
    if list_histories(app, upstream):
        merges = app.merge_history.read_merges(upstream, app.now() - REACH, app.now() + timedelta(days=1))
        names = {each.number: list_broken_names(each) for each in filter(None, list_kept_contracts(app, merges))}
        # a merge of which nothing is kept can be named, too
        followed = {
            pull.number: FollowedMerge(pull.merge_time, names.get(pull.number, frozenset())) for pull in merges
        }
        refresh_others(app, upstream, followed)


def find_news(app: App, name: str, start: datetime, end: datetime) -> tuple[OtherNews, ...]:
    """Return the merges that may break a profile since its pin, and that another first named in some time.

    That is when the bot read its commit, so each day has its own, and nothing has to be noted. Of those that only
    touch it, hardly any needed a change. Raises StoreUnavailable.
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
    pending, report, _ = judge_pending(app, entry, profile, entry.pin, has_spent=False)
    waiting = {pull.number: pull for pull in pending.pulls}
    return tuple(
        OtherNews(waiting[hit.number], find_others(others, waiting[hit.number]).commits[0], hit.level)
        for hit in report.touching.ignore_coverage()
        if hit.number in fresh and hit.level > TouchLevel.TOUCHES
    )
