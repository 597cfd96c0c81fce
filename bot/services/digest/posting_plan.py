"""Brings a channel to the state of a plan: posts what is missing, edits what reads otherwise, doubles nothing."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from bot.domain.errors import SlackRefused, SlackUnavailable
from bot.domain.history.outcomes import TakenBack
from bot.domain.track_record.posted_ratings import completed
from bot.ports import Attachment, Messenger
from bot.ports.cached_json import read_back
from bot.render.conversations.notices import notice
from bot.render.digest.amendments import amended
from bot.render.digest.post import Rendered
from bot.services.digest.records import RATINGS

log = logging.getLogger(__name__)

_TRIES = 3
_MOVED = "What stood here is part of the messages above now."


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be posted, as it is recorded. ``mark`` is equal for plans that tell the same."""

    lead: Mapping[str, Any]
    thread: tuple[Mapping[str, Any], ...]
    attachment: Attachment | None
    merged: int | None = None
    gaps: tuple[str, ...] = ()
    mark: str = ""
    ratings: str = ""
    told: tuple[str, ...] = ()

    @classmethod
    def of(cls, rendered: Rendered) -> Plan:
        """The plan of a digest."""
        posts = tuple(post.payload() for post in rendered.thread)
        told = [(rendered.unpriced or rendered.lead).payload(), posts]
        mark = sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
        ratings = RATINGS.dump_json(rendered.ratings).decode() if rendered.ratings else ""
        return cls(
            rendered.lead.payload(),
            posts,
            rendered.attachment,
            rendered.merged,
            rendered.gaps,
            mark,
            ratings,
            rendered.told,
        )

    def dump(self) -> str:
        """As it is recorded."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Plan:
        """The plan of a record, of this version or an earlier one, which kept less."""
        found = json.loads(text)
        file = found["attachment"]
        return cls(
            found["lead"],
            tuple(found["thread"]),
            Attachment(**file) if file else None,
            found.get("merged"),
            tuple(found.get("gaps", ())),
            found.get("mark", ""),
            found.get("ratings", ""),
            tuple(found.get("told", ())),
        )

    def ratings_after(self, earlier: str) -> str:
        """Those that were recorded earlier, with what the digest lacked then."""
        first, later = read_back(RATINGS, earlier), read_back(RATINGS, self.ratings)
        if first is None or later is None:
            return earlier or self.ratings
        return RATINGS.dump_json(completed(first, later)).decode()

    def amended(self, outcomes: Sequence[TakenBack]) -> Plan:
        """The same with what became of pull requests, less the file."""
        lead, *posts = (amended(post, outcomes, self.told) for post in (self.lead, *self.thread))
        return replace(self, lead=lead, thread=tuple(posts), attachment=None)


class Posting:
    """One try to bring a channel to the state of a plan. ``about`` is what the thread will be about."""

    def __init__(
        self,
        messenger: Messenger,
        sleep: Callable[[float], None],
        channel: str,
        key: str,
        since: datetime,
        about: str = "",
    ) -> None:
        self._messenger = messenger
        self._sleep = sleep
        self.channel = channel
        self.key = key
        self._since = since
        self._about = about
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
            lambda: self._messenger.post(self.channel, post, self.key, about=self._about),
            lambda: self.found_lead(is_retry=True),
        )

    def replies(self, lead: str, posts: tuple[Mapping[str, Any], ...]) -> None:
        """Post those messages of the thread that are missing, in order."""
        there = {} if self._is_new else self._in_thread(lead)
        for place, post in enumerate(posts, 1):
            key = f"{self.key}#{place}"
            if key not in there:
                self._reply(lead, key, post)

    def revise(self, lead: str, plan: Plan) -> None:
        """Edit every message to what the plan says, post what the thread lacks, and void what it has too much."""
        self._messenger.edit(self.channel, lead, plan.lead, self.key, self._about)
        there = self._in_thread(lead)
        for place, post in enumerate(plan.thread, 1):
            if ts := there.pop(f"{self.key}#{place}", None):
                self._messenger.edit(self.channel, ts, post, f"{self.key}#{place}")
            else:
                self._reply(lead, f"{self.key}#{place}", post)
        for key, ts in there.items():
            if key.startswith(f"{self.key}#"):
                self._messenger.edit(self.channel, ts, notice(_MOVED).payload(), key)

    def amend(self, lead: str, before: Plan | None, after: Plan) -> None:
        """Edit the messages that read otherwise after than before, or all; one that is gone stays gone."""
        if before is None or after.lead != before.lead:
            self._messenger.edit(self.channel, lead, after.lead, self.key, self._about)
        old = before.thread if before else ({},) * len(after.thread)
        changed = {
            f"{self.key}#{place}": post
            for place, (was, post) in enumerate(zip(old, after.thread, strict=True), 1)
            if was != post
        }
        there = self._in_thread(lead) if changed else {}
        for key, post in changed.items():
            if key in there:
                self._messenger.edit(self.channel, there[key], post, key)

    def tell(self, lead: str, name: str, post: Mapping[str, Any]) -> None:
        """Reply in the thread, once for each name."""
        key = f"{self.key}!{name}"
        if key not in self._in_thread(lead):
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
                if error.retry_after is not None:
                    # it had no effect, and what is short was waited for
                    raise
                log.info("not known whether Slack took it (%s), looking", error)
                self._sleep(float(pause))
            found = find()
            if found:
                return found
        return act()
