"""Forgetting a person or a channel: what the store has about them, what people read of that, and its removal."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from bot.app import App
from bot.errors import SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.features.questions.service import MEMORIES
from bot.features.questions.view import list_channels_of_votes
from bot.platform.store.erasure import ErasureCount, StoreEraser
from bot.platform.store.forgotten_ids import ForgottenIds
from bot.platform.store.keys import build_thread_name
from bot.text import format_count

log = logging.getLogger(__name__)

_MAX_ROUNDS = 5  # what comes in while the keys are read is removed in the next round


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """What is stored about the id ``name``: by content, and how many threads Slack did not show (``unread``)."""

    name: str
    ids: ForgottenIds
    counts: Mapping[str, ErasureCount]
    unread: int = 0

    def describe(self) -> Iterator[str]:
        also = sorted(self.ids.channels - {self.name})
        title = " and the direct messages ".join([self.name, ", ".join(also)]) if also else self.name
        if not self.counts:
            yield f"Nothing is stored about {title}."
            return
        yield f"This is stored about {title}:"
        for content, count in self.counts.items():
            deeds = (
                f"{count.removed:,} to delete" if count.removed else "",
                f"{count.redacted:,} to keep without the id" if count.redacted else "",
            )
            yield f"  {content}: {', '.join(filter(None, deeds))}"

    def describe_remains(self, app: App) -> Iterator[str]:
        if self.unread:
            yield (
                f"Not read in Slack: {format_count(self.unread, 'thread')}. Their questions are stored without "
                "names, so some may be this person's."
            )
        if self.name in (app.settings.prdigest_channel, app.settings.prdigest_admin_channel):
            yield "Your settings name this channel: change them, or the bot posts there again."
        yield "Not deleted: messages in Slack, logs, and backups that you made."


def plan_channel(app: App, channel: str) -> ForgetPlan:
    ids = ForgottenIds(channels=frozenset({channel}))
    return ForgetPlan(channel, ids, StoreEraser(app.store, app.keyspace).erase(ids, is_counted_only=True))


def plan_user(app: App, user: str, show: Callable[[int, int], None]) -> ForgetPlan:
    """Return what is stored about a person: by their id, in their direct messages, and where they wrote.

    Questions are stored without names. So Slack is asked who wrote in each thread, if there is a token of it;
    ``show`` gets the number of threads that were read, and of all. Raises StoreUnavailable.
    """
    eraser = StoreEraser(app.store, app.keyspace)
    voted = {channel for channel in list_channels_of_votes(app, user) if channel.startswith("D")}
    direct = eraser.find_direct_channels(user) | voted | _ask_direct_channel(app, user)
    messages, unread = _find_messages(app, user, show)
    ids = ForgottenIds(frozenset({user}), direct, messages)
    return ForgetPlan(user, ids, eraser.erase(ids, is_counted_only=True), unread)


def carry_out(app: App, plan: ForgetPlan) -> None:
    """Remove everything of a plan. Raises StoreUnavailable, also if the same is written again and again.

    Raises SlackUnavailable before anything is removed: without the memory of a thread nobody knows of its session.
    """
    eraser = StoreEraser(app.store, app.keyspace)
    _end_sessions(app, plan.ids)
    for _ in range(_MAX_ROUNDS):
        if not eraser.erase(plan.ids):
            return
    raise StoreUnavailable("The bot stores new data about it all the time: stop the bot, and run this again.")


def _end_sessions(app: App, ids: ForgottenIds) -> None:
    """End the sessions of Slack in threads that are forgotten: their titles are words of questions."""
    if app.settings.slack_bot_token is None:
        return
    for channel, thread in app.tables.list_keys(MEMORIES.family):
        if channel not in ids.channels and build_thread_name(channel, thread) not in ids.messages:
            continue
        try:
            if not app.messenger.is_agent:
                return
            app.messenger.end_session(channel, thread)
        except SlackCallRefused as error:
            log.warning("the session of %s in %s is not ended: %s", thread, channel, error)


def _ask_direct_channel(app: App, user: str) -> frozenset[str]:
    if app.settings.slack_bot_token is None:
        return frozenset()
    try:
        return frozenset({app.messenger.open_direct_messages(user)})
    except (SlackCallRefused, SlackUnavailable) as error:
        log.warning("the direct messages of %s are not known: %s", user, error)
        return frozenset()


def _find_messages(app: App, user: str, show: Callable[[int, int], None]) -> tuple[frozenset[str], int]:
    """Return the messages of the threads in which a person wrote, and how many threads are unread."""
    reader = app.messenger if app.settings.slack_bot_token else None
    names, unread = set[str](), 0
    # nobody else writes in the direct messages of a person, and theirs are known
    threads = [each for each in app.tables.list_keys(MEMORIES.family) if not each[0].startswith("D")]
    for done, (channel, thread) in enumerate(threads):
        show(done, len(threads))
        try:
            messages = reader.list_messages(channel, thread) if reader else None
        except (SlackCallRefused, SlackUnavailable) as error:
            log.warning("the thread %s of %s can't be read: %s", thread, channel, error)
            messages = None
        if messages is None:
            unread += 1
        elif any(message.user == user for message in messages):
            names.update(build_thread_name(channel, message.ts) for message in messages)
            names.add(build_thread_name(channel, thread))
    show(len(threads), len(threads))
    return frozenset(names), unread
