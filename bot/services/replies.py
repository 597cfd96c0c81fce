"""Gives each request from Slack its answer, once: however often it is delivered, wherever an earlier try ended.

An answer in the channel carries its key in the metadata, so that a try that may have posted is looked for before
the next one posts. What only the asker sees can't be looked for; if the process dies between Slack's answer and
ours to the store, the asker gets it twice rather than never.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import InProgress, PrdigestError, SlackRefused, SlackUnavailable, StoreUnavailable
from bot.domain.visits import Audience, Visit
from bot.ports import Messenger, Post, PostRecords, Whispers
from bot.render.notices import notice, regret

log = logging.getLogger(__name__)

# how far Slack's clock and ours may be apart
_SKEW = timedelta(minutes=10)
_NOT_A_MEMBER = "I am not a member of this channel: invite me with /invite, then share again."


@dataclass(frozen=True, slots=True)
class Answer:
    """A message as everybody sees it and as the asker alone does; they differ in their buttons."""

    public: Post
    private: Post

    @classmethod
    def for_asker(cls, post: Post) -> Answer:
        """One that is only ever given to the asker."""
        return cls(post, post)


class Replies:
    """Answers visits."""

    def __init__(
        self, messenger: Messenger, whispers: Whispers, records: PostRecords, now: Callable[[], datetime]
    ) -> None:
        self._messenger = messenger
        self._whispers = whispers
        self._records = records
        self._now = now

    def give(self, visit: Visit, part: str, audience: Audience, make: Callable[[], Answer | None]) -> None:
        """Answer one part of a request. ``make`` is called only if this was not done; None needs no words.

        What goes wrong in it is told to the asker as a sentence with the visit's reference, which the log has too.

        Raises:
            SlackUnavailable, StoreUnavailable, InProgress: trying again goes on from there.
        """
        key = f"answer:{visit.key}:{part}"
        with self._records.exclusive(key):
            record = self._records.load(key)
            if "done" in record or ("begun" in record and self._stands(visit, key, record["begun"])):
                return
            answer = self._made(visit, make)
            if answer:
                self._deliver(visit, key, audience, answer)
            self._records.save(key, done=self._now().isoformat())

    def tell(self, visit: Visit, sentence: str) -> None:
        """Tell the asker something. Raises SlackUnavailable, StoreUnavailable."""
        self.give(visit, "tell", Audience.ASKER, lambda: Answer.for_asker(notice(sentence)))

    def _made(self, visit: Visit, make: Callable[[], Answer | None]) -> Answer | None:
        try:
            return make()
        except (StoreUnavailable, SlackUnavailable, InProgress):
            raise
        except PrdigestError as error:
            log.warning("no answer [%s]: %s", visit.reference, error)
            self._whispers.whisper(visit, regret(error, visit.reference))
        except Exception as error:
            log.exception("a defect [%s]", visit.reference)
            self._whispers.whisper(visit, regret(error, visit.reference))
        return None

    def _deliver(self, visit: Visit, key: str, audience: Audience, answer: Answer) -> None:
        if audience is Audience.ASKER:
            self._whispers.whisper(visit, answer.private)
        elif not self._posted(visit, key, answer.public):
            shared = audience is Audience.SHARED
            self._whispers.whisper(visit, notice(_NOT_A_MEMBER) if shared else answer.private)

    def _posted(self, visit: Visit, key: str, post: Post) -> bool:
        """Post to the channel, unless Slack does not let the bot."""
        self._records.save(key, begun=self._now().isoformat())
        try:
            self._messenger.post(visit.channel, post.payload(), key, visit.thread or None)
        except SlackRefused as error:
            log.info("not posted to %s, the asker gets it: %s", visit.channel, error)
            return False
        return True

    def _stands(self, visit: Visit, key: str, begun: str) -> bool:
        """Whether an earlier try posted. A channel that can't be read is one that could not be posted to."""
        since = datetime.fromisoformat(begun) - _SKEW
        try:
            return key in self._messenger.find_posts(visit.channel, since, visit.thread or None)
        except SlackRefused as error:
            log.info("can't look into %s: %s", visit.channel, error)
            return False
