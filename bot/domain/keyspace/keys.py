"""Every key of the store: what it holds, how long it lives, how it is built and how it is taken apart.

A key here is without the prefix of a deployment, which the adapter of the store puts before it. What is exported,
what a reset keeps and which lifetime a key gets are derived from this list; no other module spells a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.keyspace.family import Durable, Expiring

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

# --- kept for good

SUBSCRIPTIONS = Durable(pattern="subscriptions", type="hash", content="subscriptions by their ids")
AGENDA = Durable(pattern="agenda", type="zset", content="what is to be done, by seconds since 1970")
JOURNAL = Durable(pattern="journal", type="list", content="the last runs, newest first")
VOTES = Durable(pattern="votes", type="hash", content="votes by channel, message and user")
DIGEST = Durable(
    pattern="digest:{team}:{channel}:{repository}:{days}",
    type="hash",
    content="what is known of a digest; with a colon and a fingerprint behind it where it shows a part",
)
THREAD = Durable(pattern="thread:{channel}:{thread}", type="string", content="what was said in a thread")
ATTENTION = Durable(pattern="attention:{channel}:{thread}", type="string", content="whether a thread is muted")
WELCOMED = Durable(pattern="welcomed:{user}", type="string", content="that somebody was welcomed")
HISTORY = Durable(
    pattern="history:{repository}:{date}",
    type="hash",
    content="pull requests merged on a UTC date, by number",
    survives_reset=True,
)
BACKFILLED = Durable(
    pattern="backfilled:{repository}:{zone}",
    type="hash",
    content="which local dates were filled",
    survives_reset=True,
)
ISSUED = Durable(
    pattern="issued:{repository}", type="zset", content="keys of digests, by the end of their last day"
)

# --- of this store alone

SCHEMA = Durable(
    pattern="schema",
    type="string",
    content="the version of what is kept for good",
    is_exported=False,
    survives_reset=True,
)
OWNER = Durable(
    pattern="owner", type="string", content="the workspace that the store belongs to", is_exported=False
)

# --- requests and answers

ASKED = Expiring(pattern="asked:{request}", type="string", content="what was said at once", lifetime=_HOUR)
# Slack delivers again for minutes, and a job may wait for a worker over a night
ANSWER = Expiring(
    pattern="answer:{request}:{part}",
    type="hash",
    content="how far a part of a request was answered",
    lifetime=_DAY,
)
# longer than a job is tried again
COMMAND_RESULT = Expiring(
    pattern="regular:{request}", type="string", content="what came of a change of subscriptions", lifetime=_HOUR
)
ANSWERED = Expiring(
    pattern="answered:{channel}:{message}",
    type="string",
    content="what an answer was made of, as long as it can be voted on",
    lifetime=30 * _DAY,
)
# a question may wait for a worker over a weekend
WAITING = Expiring(
    pattern="waiting:{thread}", type="zset", content="questions, by the time of asking", lifetime=3 * _DAY
)

# --- the clock and its reports

TICKED = Expiring(pattern="clock:ticked", type="string", content="when the clock last ticked", lifetime=_DAY)
# the longest that PRDIGEST_CATCH_UP_HOURS may be
SENT = Expiring(
    pattern="sent:{subscription}:{due}",
    type="string",
    content="when a digest was first put on its queue; with a colon and its number behind it, that a try was",
    lifetime=7 * _DAY,
)
TROUBLE = Expiring(pattern="trouble:{incident}", type="string", content="what is wrong", lifetime=30 * _DAY)
TOLD = Expiring(
    pattern="told:{incident}", type="string", content="the report that tells of it", lifetime=30 * _DAY
)
REPORT = Expiring(
    pattern="report:{fingerprint}", type="hash", content="a message to operators", lifetime=30 * _DAY
)
LOOKED = Expiring(
    pattern="looked:{repository}", type="string", content="the UTC date of the last look", lifetime=30 * _DAY
)
SPARING = Expiring(
    pattern="sparing:{repository}", type="string", content="whether digests list less", lifetime=_DAY
)

# --- what was read and bought

COMPLETION = Expiring(
    pattern="llm:{fingerprint}",
    type="string",
    content="a model's answer",
    lifetime=90 * _DAY,
    survives_reset=True,
)
# as long as the model's answers
ENTRY = Expiring(
    pattern="entry:{version}:{reference}",
    type="string",
    content="a pull request as it was read",
    lifetime=90 * _DAY,
    survives_reset=True,
)
# follow-up questions are asked about the last weeks; patches are the largest thing in the store
FILES = Expiring(
    pattern="files:{repository}:{number}:{commit}",
    type="string",
    content="the changed files of a commit",
    lifetime=30 * _DAY,
    survives_reset=True,
)
# titles, labels and descriptions may still be edited; what is merged on a day that is over stays
DAY = Expiring(
    pattern="day:{repository}:{date}:{zone}",
    type="string",
    content="the list of a day that is over",
    lifetime=timedelta(hours=12),
    survives_reset=True,
)
SPENT = Expiring(
    pattern="spent:{account}",
    type="string",
    content="millionths of a dollar of a day",
    lifetime=2 * _DAY,
    survives_reset=True,
)
# after that what a process reserved that died is free again; no call takes half as long
HELD = Expiring(pattern="held:{account}", type="zset", content="reservations, by their end", lifetime=10 * _MINUTE)

# --- processes and jobs

RATE = Expiring(pattern="rate:{name}", type="string", content="requests in a second", lifetime=_MINUTE)
# the lease of a process that died is free again after that; a living one renews three times in it
LEASE = Expiring(pattern="lease:{name}", type="string", content="who holds it", lifetime=timedelta(seconds=6))
ATTEMPTS = Expiring(pattern="attempts:{job}", type="string", content="how often a job began", lifetime=_DAY)
# as long as Dramatiq keeps their messages
ASIDE = Expiring(pattern="aside", type="zset", content="jobs that were set aside, by time", lifetime=7 * _DAY)
READY = Expiring(pattern="ready", type="string", content="that the store takes what is written", lifetime=_MINUTE)
PROBE = Expiring(pattern="doctor:written", type="string", content="the same, of the doctor", lifetime=_MINUTE)

# Dramatiq builds these itself, of several types, and removes them; JOBS is the namespace that it is given
JOBS = "dramatiq"

FAMILIES: tuple[Durable | Expiring, ...] = (
    SUBSCRIPTIONS,
    AGENDA,
    JOURNAL,
    VOTES,
    DIGEST,
    THREAD,
    ATTENTION,
    WELCOMED,
    HISTORY,
    BACKFILLED,
    ISSUED,
    SCHEMA,
    OWNER,
    ASKED,
    ANSWER,
    COMMAND_RESULT,
    ANSWERED,
    WAITING,
    TICKED,
    SENT,
    TROUBLE,
    TOLD,
    REPORT,
    LOOKED,
    SPARING,
    COMPLETION,
    ENTRY,
    FILES,
    DAY,
    SPENT,
    HELD,
    RATE,
    LEASE,
    ATTEMPTS,
    ASIDE,
    READY,
    PROBE,
)


def find_family(key: str) -> Durable | Expiring | None:
    """Return the family of a key; None for a key of Dramatiq's, or of something else."""
    return next((family for family in FAMILIES if family.holds(key)), None)


@dataclass(frozen=True, slots=True)
class DigestName:
    """What the key of a digest says.

    ``days`` is a date or ``first..last``. ``offsets`` are those of the zone from UTC, empty in keys of versions
    that left them out. ``view`` is the fingerprint of what is shown, empty for all.
    """

    team: str
    channel: str
    repository: str
    days: str
    offsets: str = ""
    view: str = ""

    @property
    def key(self) -> str:
        """Build the key."""
        days = f"{self.days}@{self.offsets}" if self.offsets else self.days
        key = DIGEST.key(self.team, self.channel, self.repository, days)
        return f"{key}:{self.view}" if self.view else key


def parse_digest(key: str) -> DigestName | None:
    """Take the key of a digest apart; None if it is the key of something else."""
    kind, *parts = key.split(":")
    if f"{kind}:" != DIGEST.name or len(parts) not in (4, 5):
        return None
    team, channel, repository, days, *view = parts
    dates, _, offsets = days.partition("@")
    return DigestName(team, channel, repository, dates, offsets, "".join(view))


def name_jobs(part: str) -> str:
    """Build the key that Dramatiq uses for a queue, or for the heartbeats of its processes."""
    return f"{JOBS}:{part}"


def name_try(subscription: str, due: str, tries: str = "") -> str:
    """Build the key of when a digest was first put on its queue, or of a try that was."""
    key = SENT.key(subscription, due)
    return f"{key}:{tries}" if tries else key
