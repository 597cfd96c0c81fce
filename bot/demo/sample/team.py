"""A small team that builds on vLLM: its profile, and what the sample day changes for others.

The tree is in ``downstream``: there each file ends in ``.sample``, so that no tool takes it for a part of the bot.
``profile.json``, ``contracts.json`` and ``may_go.json`` are made from it and from a clone of vLLM:
``python -m docs.sample CLONE``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files

from bot.app import App
from bot.demo.sample.sources import SampleSources
from bot.demo.stand_in import load_contracts
from bot.features.merges.requests import DigestView
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.releases import SEEN_TAGS, SeenTags
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.tables import put_subscription
from bot.features.touches.contracts import keep_contract
from bot.features.touches.team_history import SPENT, KeptSpent, name_spent
from bot.platform.store.due_queue import NextDigest, OutcomeCheck
from impact.profile.models import Profile, parse_profile

PROFILE_NAME = "satellite"
PROFILE_FILE, SPENT_FILE = "profile.json", "may_go.json"


def load_profile() -> Profile:
    """Load the team's profile, linked to vLLM as it was before the sample day."""
    return parse_profile(_read_file(PROFILE_FILE))


def load_spent() -> KeptSpent:
    """Load what of the team's code may go at the end of the day."""
    return SPENT.codec.load(json.loads(_read_file(SPENT_FILE)))


def _read_file(name: str) -> str:
    return files("bot.demo.sample").joinpath(name).read_text(encoding="utf-8")


def plant_contracts(sample: SampleSources, app: App) -> None:
    """Keep what each merge of the day changes for others: the sample has no files to read that from."""
    for number, contract in load_contracts().items():
        keep_contract(app, sample.fetch_pull_request(sample.repository, number), contract)


def plant_team(sample: SampleSources, due: datetime, person: str, channel: str, app: App) -> None:
    """Add the team's profile, what the day changes, and a subscription of a channel that is due at an instant."""
    profile = load_profile()
    at = profile.scanned_at.astimezone(UTC)
    *pulls, pinned = (sample.fetch_pull_request(sample.repository, number) for number in sample.numbers)
    # it has no source to scan each day
    entry = ProfileEntry(
        profile.name,
        sample.repository,
        profile.packages,
        uses=len(profile.uses),
        files=profile.files,
        refreshed_at=at,
        moved_at=at,
        pin=PinnedMerge(pinned.commit, pinned.commit, pinned.merge_time),
    )
    app.profiles.put(entry, profile)
    plant_contracts(sample, app)
    # there are no clones to look for that in
    later = (pull.number for pull in pulls if pull.merge_time > pinned.merge_time and not pull.other_branch)
    app.tables.put(SPENT, load_spent(), *name_spent(profile, pinned.commit, sample.last_commit, later))
    timing, view = Timing(due.time(), sample.day.zone), DigestView(profile=PROFILE_NAME)
    subscription = Subscription(channel, sample.repository, timing, view, by=person, is_open=True)
    put_subscription(app, subscription)
    app.due_queue.put(NextDigest(subscription.id), due)
    app.tables.put(SEEN_TAGS, SeenTags(due, {}), str(sample.repository).lower())
    app.due_queue.add(OutcomeCheck(sample.repository), sample.tagged_at)
