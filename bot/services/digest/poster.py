"""Posts a digest to a channel once: however often it is asked for, and wherever an earlier try broke off.

Slack is the proof. Every message carries the digest's key in its metadata; a try that knows no timestamp looks
for the key in the channel before it posts; and what was rendered is recorded before the first post, so that a
second try finishes the same text. What was posted with gaps can be revised: edited, never posted again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from bot.domain.conversations.commands import DigestRequest
from bot.domain.conversations.thread_subject import About
from bot.domain.errors import SlackRefused, UsageError
from bot.domain.history.outcomes import TakenBack
from bot.domain.subscriptions.models import Edition
from bot.ports import Attachment, Messenger, PostRecords
from bot.ports.slack import SKEW
from bot.render.digest.amendments import outcome_reply
from bot.render.digest.post import Rendered
from bot.services.digest.posting_plan import Plan, Posting
from bot.services.digest.records import DigestRecords

# of a workspace that lets nobody edit messages, or not after a while; a thread is open all the same
_NOT_EDITABLE = ("edit_window_closed", "cant_update_message")


@dataclass(frozen=True, slots=True)
class Published:
    """Where the digest stands; whether it stood there already; what could not be done, as sentences.

    ``gaps`` is what is missing of it and may be had later; ``merged`` is None where that is not known any more.
    """

    address: str
    already: bool = False
    notes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    merged: int | None = None


class Publisher:
    """Posts digests. ``begin`` hears of each that was posted, and its key; it may hear of one more than once."""

    def __init__(
        self,
        messenger: Messenger,
        records: PostRecords,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        begin: Callable[[Edition, str], None] = lambda edition, key: None,
    ) -> None:
        self._messenger = messenger
        self._begin = begin
        self._records = records
        self._now = now
        self._sleep = sleep
        self.digests = DigestRecords(records, messenger.team)

    def key(self, edition: Edition) -> str:
        """Where the record of an edition is. Raises SlackRefused, SlackUnavailable, StoreUnavailable."""
        return self.digests.key(edition)

    def publish(self, edition: Edition, build: Callable[[], Rendered]) -> Published:
        """Post a digest, or finish what an earlier try began. ``build`` is called only if needed.

        Raises:
            UsageError: the day is not over; a digest of half of it would stand for the whole.
            InProgress: another process is at it.
            SlackRefused, SlackUnavailable: it could not be posted; trying again later goes on from there.
        """
        last = edition.span.days[-1]
        if last.end > self._now():
            raise UsageError(f"{last.date} is not over in {last.zone}: post it after, or look with --dry-run.")
        key = self.key(edition)
        with self._records.exclusive(key):
            record = self._records.load(key)
            if "done" in record:
                return self._standing(edition, record)
            posting = self._posting(edition, key)
            lead = record.get("lead") or posting.found_lead(is_retry="plan" in record)
            # what was planned and never posted may be out of date, such as the facts of a day without a model
            is_bound = lead is not None and "plan" in record
            plan = (
                Plan.load(record["plan"])
                if is_bound
                else self._planned(key, build, is_first="begun" not in record)
            )
            return self._post(edition, posting, lead, plan)

    def revise(self, edition: Edition, build: Callable[[], Rendered]) -> Published:
        """Edit a digest that was posted to what it would be now. Doing so twice changes nothing more.

        Raises:
            InProgress: another process is at it.
            SlackRefused, SlackUnavailable: it is not known how much was edited; revising again edits the rest.
        """
        key = self.key(edition)
        with self._records.exclusive(key):
            record = self._records.load(key)
            plan, times = Plan.of(build()), int(record.get("corrected", "0"))
            if plan.mark != record.get("shown"):
                # a try that breaks off leaves a mixture, which is like no plan
                self._records.save(key, shown="")
                posting = self._posting(edition, key)
                posting.revise(record["lead"], plan)
                if _mark(plan.attachment) != record.get("filed"):
                    times += 1
                    posting.file(record["lead"], _corrected(plan.attachment, times))
            # a list is held to what was known when it was posted; what it lacked is followed from now on
            rated = {"ratings": plan.ratings_after(record.get("ratings", ""))}
            self._records.save(key, corrected=str(times), **(_shown(plan) | rated))
            return self._standing(edition, self._records.load(key))

    def amend(self, edition: Edition, news: Sequence[TakenBack], listed: Collection[int]) -> None:
        """Write what became of pull requests behind their lines, and reply to each that stands, once.

        ``listed`` are the numbers that the digest named as worth a second look.

        Raises:
            InProgress: another process is at it.
            SlackRefused: nothing can be edited there; where only that is so, the replies were posted.
            SlackUnavailable: it is not known how much was done; again does the rest.
        """
        key = self.key(edition)
        with self._records.exclusive(key):
            record = self._records.load(key)
            plan, posting = Plan.load(record["posted"]), self._posting(edition, key)
            # what is not so any more has to go too
            before, refused = None if record.get("amended") else plan, None
            try:
                posting.amend(record["lead"], before, plan.amended(news))
            except SlackRefused as error:
                if error.code not in _NOT_EDITABLE:
                    raise
                refused = error
            for found in (each for each in news if each.stands):
                reply = outcome_reply(found, was_listed=found.pull.number in listed)
                posting.tell(record["lead"], found.mark, reply.payload())
            if refused:
                raise refused

    def _posting(self, edition: Edition, key: str) -> Posting:
        # no digest is older than its last day; our own clock would be a worse witness of when it was posted
        since = edition.span.days[-1].start - SKEW
        request = DigestRequest(edition.repository, edition.span, zone=edition.span.zone)
        about = About.DIGEST.of(request)
        return Posting(self._messenger, self._sleep, edition.channel, key, since, about)

    def _standing(self, edition: Edition, record: dict[str, str]) -> Published:
        merged = record.get("merged")
        return Published(
            record.get("address") or self._messenger.permalink(edition.channel, record["lead"]),
            already=True,
            gaps=tuple(json.loads(record.get("gaps", "[]"))),
            merged=int(merged) if merged else None,
        )

    def _planned(self, key: str, build: Callable[[], Rendered], *, is_first: bool) -> Plan:
        plan = Plan.of(build())
        if is_first:
            # building takes minutes; if another process has begun meanwhile, this one lost its right to
            self._records.claim(key, "begun", self._now().isoformat())
        self._records.save(key, plan=plan.dump())
        return plan

    def _post(self, edition: Edition, posting: Posting, found: str | None, plan: Plan) -> Published:
        lead = found or posting.lead(plan.lead)
        self._records.save(posting.key, lead=lead)
        posting.replies(lead, plan.thread)
        notes = posting.file(lead, plan.attachment)
        address = self._messenger.permalink(posting.channel, lead)
        self._begin(edition, posting.key)
        self._records.save(posting.key, done=self._now().isoformat(), plan="", address=address, **_shown(plan))
        return Published(address, notes=notes, gaps=plan.gaps, merged=plan.merged)


def _shown(plan: Plan) -> dict[str, str]:
    """What is recorded of a digest that stands."""
    gaps = json.dumps(plan.gaps)
    merged = "" if plan.merged is None else str(plan.merged)
    filed = _mark(plan.attachment)
    told = {"text": plan.lead["text"], "told": json.dumps(plan.told), "ratings": plan.ratings, "amended": ""}
    # what is amended later is what was posted; the file is not
    posted = replace(plan, attachment=None, ratings="").dump()
    return {"shown": plan.mark, "filed": filed, "merged": merged, "gaps": gaps, "posted": posted, **told}


def _mark(file: Attachment | None) -> str:
    return sha256(file.text.encode()).hexdigest()[:16] if file else ""


def _corrected(file: Attachment | None, times: int) -> Attachment | None:
    """Slack's files can't be edited: the one that was wrong stays beside this one."""
    if file is None:
        return None
    stem, _, ending = file.name.rpartition(".")
    again = f"-{times}" if times > 1 else ""
    return replace(file, name=f"{stem}-corrected{again}.{ending}", title=f"{file.title}, corrected")
