"""Forgetting a person or a channel: finding out what is theirs, and removing it from the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.domain.errors import SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.domain.keyspace.forgotten_ids import ForgottenIds
from bot.domain.keyspace.names import build_thread_name
from bot.ports.slack.messages import Messenger, ThreadReader
from bot.ports.store.eraser import Eraser, ErasureCount

log = logging.getLogger(__name__)

# what comes in while the keys are read is removed in the next round
_MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """The ids to forget, and what is stored of them. ``unread`` is how many threads Slack did not show."""

    ids: ForgottenIds
    counts: Mapping[str, ErasureCount]
    unread: int = 0


class Forgetting:
    """Removal of a person or a channel. Without ``messenger`` and ``threads``, Slack is not asked."""

    def __init__(self, eraser: Eraser, messenger: Messenger | None, threads: ThreadReader | None) -> None:
        self._eraser = eraser
        self._messenger = messenger
        self._threads = threads

    def plan_channel(self, channel: str) -> ForgetPlan:
        """Return what is stored about a channel. Raises StoreUnavailable."""
        ids = ForgottenIds(channels=frozenset({channel}))
        return ForgetPlan(ids, self._eraser.count(ids))

    def plan_user(self, user: str, show: Callable[[int, int], None]) -> ForgetPlan:
        """Return what is stored about a person: by their id, in their direct messages, and where they wrote.

        Questions are stored without names. So Slack is asked who wrote in each thread; ``show`` gets the number of
        threads that were read, and of all. Raises StoreUnavailable.
        """
        direct = self._eraser.find_direct_channels(user) | self._ask_direct_channel(user)
        messages, unread = self._find_messages(user, show)
        ids = ForgottenIds(frozenset({user}), direct, messages)
        return ForgetPlan(ids, self._eraser.count(ids), unread)

    def carry_out(self, plan: ForgetPlan) -> None:
        """Remove everything of a plan. Raises StoreUnavailable, also if the same is written again and again."""
        for _ in range(_MAX_ROUNDS):
            if not self._eraser.erase(plan.ids):
                return
        raise StoreUnavailable("The bot stores new data about it all the time: stop the bot, and run this again.")

    def _ask_direct_channel(self, user: str) -> frozenset[str]:
        """Return the direct messages with a person, as Slack knows them; none if it does not tell."""
        if self._messenger is None:
            return frozenset()
        try:
            return frozenset({self._messenger.open_direct_messages(user)})
        except (SlackCallRefused, SlackUnavailable) as error:
            log.warning("the direct messages of %s are not known: %s", user, error)
            return frozenset()

    def _find_messages(self, user: str, show: Callable[[int, int], None]) -> tuple[frozenset[str], int]:
        """Return the messages of the threads in which a person wrote, and how many threads are unread."""
        message_names, unread = set[str](), 0
        # nobody else writes in the direct messages of a person, and theirs are known
        threads = [each for each in self._eraser.list_threads() if not each[0].startswith("D")]
        for done, (channel, thread) in enumerate(threads):
            show(done, len(threads))
            try:
                messages = self._threads.list_messages(channel, thread) if self._threads else None
            except (SlackCallRefused, SlackUnavailable) as error:
                log.warning("the thread %s of %s can't be read: %s", thread, channel, error)
                messages = None
            if messages is None:
                unread += 1
            elif any(message.user == user for message in messages):
                message_names.update(build_thread_name(channel, message.ts) for message in messages)
                message_names.add(build_thread_name(channel, thread))
        show(len(threads), len(threads))
        return frozenset(message_names), unread
