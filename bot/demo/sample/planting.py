"""The sample team in the bot's store, as an operator and a scan would have put it there."""

from __future__ import annotations

from datetime import datetime

from bot.adapters.redis import RedisDueQueue
from bot.app import App
from bot.demo.sample.sources import SampleSources
from bot.demo.sample.team import PROFILE_NAME, build_sample_entry, load_contracts, load_profile
from bot.domain.digest.view import DigestView
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription, Timing
from bot.services.contract.reader import ContractReader
from impact.contract.extraction import EXTRACTION_VERSION, extract_merge


def plant_team(sample: SampleSources, due: datetime, person: str, channel: str, app: App) -> None:
    """Add the team's profile, what the day changes, and a subscription of a channel that is due at an instant.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    profile = load_profile()
    app.profiles.put(build_sample_entry(profile), profile)
    # the sample has no files: what was read of them before is kept in their place
    reader = ContractReader(None, app.cache, sample.load_files, extract_merge, EXTRACTION_VERSION)
    for number, contract in load_contracts().items():
        reader.keep(sample.fetch_pull_request(sample.repository, number), contract)
    timing, view = Timing(due.time(), sample.day.zone), DigestView(profile=PROFILE_NAME)
    subscription = Subscription(channel, sample.repository, timing, view, by=person, is_open=True)
    app.subscription_store.put(subscription)
    RedisDueQueue(app.store, app.keyspace).put(NextDigest(subscription.id), due)
