"""Posts a digest to a channel once: however often it is asked for, and wherever an earlier try broke off.

Slack is the proof. Every message carries the digest's key in its metadata; a try that knows no timestamp looks
for the key in the channel before it posts; and what was rendered is recorded before the first post, so that a
second try finishes the same text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.domain.days import LocalDay
from bot.domain.errors import SlackRefused, SlackUnavailable, UsageError
from bot.domain.pulls import Repository
from bot.ports import Attachment, Messenger, PostRecords
from bot.render.digest import Rendered

log = logging.getLogger(__name__)

# how far Slack's clock and ours may be apart
_SKEW = timedelta(minutes=10)
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Published:
    """Where the digest stands; whether it stood there already; what could not be done, as sentences."""

    address: str
    already: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be posted, as it was recorded."""

    lead: Mapping[str, Any]
    thread: tuple[Mapping[str, Any], ...]
    attachment: Attachment | None

    @classmethod
    def of(cls, rendered: Rendered) -> _Plan:
        return cls(rendered.lead.payload(), tuple(post.payload() for post in rendered.thread), rendered.attachment)

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> _Plan:
        found = json.loads(text)
        file = found["attachment"]
        return cls(found["lead"], tuple(found["thread"]), Attachment(**file) if file else None)


class Publisher:
    """Posts digests."""

    def __init__(
        self,
        messenger: Messenger,
        records: PostRecords,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self._messenger = messenger
        self._records = records
        self._now = now
        self._sleep = sleep

    def publish(
        self, channel: str, repository: Repository, day: LocalDay, build: Callable[[], Rendered]
    ) -> Published:
        """Post the digest of a day, or finish what an earlier try began. ``build`` is called only if needed.

        Raises:
            UsageError: the day is not over; a digest of half of it would stand for the whole.
            InProgress: another process is at it.
            SlackRefused, SlackUnavailable: it could not be posted; trying again later goes on from there.
        """
        if day.end > self._now():
            raise UsageError(f"{day.date} is not over in {day.zone}: post it after, or look with --dry-run.")
        key = f"digest:{self._messenger.team()}:{channel}:{repository}:{day.date}"
        with self._records.exclusive(key):
            record = self._records.load(key)
            if "done" in record:
                return Published(self._messenger.permalink(channel, record["lead"]), already=True)
            # no digest is older than its day; our own clock would be a worse witness of when it was posted
            run = _Run(self._messenger, self._sleep, channel, key, since=day.start - _SKEW)
            lead = record.get("lead") or run.found_lead(is_retry="plan" in record)
            # what was planned and never posted may be out of date, such as the facts of a day without a model
            is_bound = lead is not None and "plan" in record
            plan = (
                _Plan.load(record["plan"])
                if is_bound
                else self._planned(key, build, is_first="begun" not in record)
            )
            return self._post(run, lead, plan)

    def _planned(self, key: str, build: Callable[[], Rendered], *, is_first: bool) -> _Plan:
        plan = _Plan.of(build())
        if is_first:
            # building takes minutes; if another process has begun meanwhile, this one lost its right to
            self._records.claim(key, "begun", self._now().isoformat())
        self._records.save(key, plan=plan.dump())
        return plan

    def _post(self, run: _Run, found: str | None, plan: _Plan) -> Published:
        lead = found or run.lead(plan.lead)
        self._records.save(run.key, lead=lead)
        run.replies(lead, plan.thread)
        notes = run.file(lead, plan.attachment)
        address = self._messenger.permalink(run.channel, lead)
        self._records.save(run.key, done=self._now().isoformat(), plan="")
        return Published(address, notes=notes)


class _Run:
    """One try to bring the channel to the state of a plan."""

    def __init__(
        self, messenger: Messenger, sleep: Callable[[float], None], channel: str, key: str, since: datetime
    ) -> None:
        self._messenger = messenger
        self._sleep = sleep
        self.channel = channel
        self.key = key
        self._since = since
        # nothing can be in the thread of a message that this run posted; looking would need a scope, and a call
        self._is_new = False

    def found_lead(self, *, is_retry: bool) -> str | None:
        """Timestamp of the lead message if the channel holds it. A channel that is closed to us says so here."""
        try:
            return self._messenger.find_posts(self.channel, self._since).get(self.key)
        except SlackRefused as error:
            # without leave to read the channel a first try is still safe; a second could post twice
            if error.code != "missing_scope" or is_retry:
                raise
            return None

    def lead(self, post: Mapping[str, Any]) -> str:
        """Post the lead message; its timestamp."""
        self._is_new = True
        return self._once(
            lambda: self._messenger.post(self.channel, post, self.key),
            lambda: self.found_lead(is_retry=True),
        )

    def replies(self, lead: str, posts: tuple[Mapping[str, Any], ...]) -> None:
        """Post those messages of the thread that are missing, in order."""
        there = {} if self._is_new else self._in_thread(lead)
        for place, post in enumerate(posts, 1):
            key = f"{self.key}#{place}"
            if key not in there:
                self._reply(lead, key, post)

    def _reply(self, lead: str, key: str, post: Mapping[str, Any]) -> None:
        self._once(
            lambda: self._messenger.post(self.channel, post, key, lead),
            lambda: self._in_thread(lead).get(key),
        )

    def file(self, lead: str, file: Attachment | None) -> tuple[str, ...]:
        """Attach the report unless it is there. A bot without the scope goes without, and says so."""
        if file is None:
            return ()
        try:
            self._once(lambda: self._attach(lead, file), lambda: self._attached(lead, file))
        except SlackRefused as error:
            if error.code != "missing_scope":
                raise
            return (f"The report was not attached. {error}",)
        return ()

    def _attach(self, lead: str, file: Attachment) -> str:
        if self._is_new or not self._attached(lead, file):
            self._messenger.attach(self.channel, lead, file)
        return file.name

    def _attached(self, lead: str, file: Attachment) -> str | None:
        return file.name if self._messenger.has_attachment(self.channel, lead, file.name) else None

    def _in_thread(self, lead: str) -> dict[str, str]:
        return self._messenger.find_posts(self.channel, self._since, thread=lead)

    def _once(self, act: Callable[[], str], find: Callable[[], str | None]) -> str:
        """Act; when it is not known whether that had its effect, look for it before acting again."""
        for pause in range(1, _TRIES):
            try:
                return act()
            except SlackUnavailable as error:
                log.info("not known whether Slack took it (%s), looking", error)
                self._sleep(float(pause))
            found = find()
            if found:
                return found
        return act()
