"""The names of everything in the store: families of keys, each with what it holds and for how long."""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from functools import cache
from typing import Literal

RedisType = Literal["string", "hash", "list", "zset"]

_FIELD_PATTERN = re.compile(r"\{\w+\}")


@cache
def _parse_pattern(pattern: str) -> tuple[str, str, int]:
    """Return the part before the first field, the pattern for ``str.format``, and the number of fields."""
    first, *others = _FIELD_PATTERN.split(pattern)
    return first, _FIELD_PATTERN.sub("{}", pattern), len(others)


# all that were declared in modules that are imported
FAMILIES: list[KeyFamily] = []


@dataclass(frozen=True, slots=True)
class KeyFamily:
    """Keys of one ``pattern``, in which each ``{field}`` stands for a text; without any, it is one key."""

    pattern: str
    type: RedisType
    content: str
    _: KW_ONLY
    survives_reset: bool = False  # its content is the same in every Slack
    outlives_message: bool = False  # it names a message, but holds nothing of it, or what others wrote too
    lifetime: timedelta | None = None  # after which a key expires, at the latest

    def __post_init__(self) -> None:
        FAMILIES.append(self)

    @property
    def prefix(self) -> str:
        """The beginning of its keys, with the colon; the whole key if there is only one."""
        return _parse_pattern(self.pattern)[0]

    def build_key(self, *parts: object) -> str:
        """Build the key with these values of the fields. Raises ValueError for a wrong number of values."""
        _, template, count = _parse_pattern(self.pattern)
        if len(parts) != count:
            raise ValueError(f"{self.pattern} has {count} fields, not {len(parts)}")
        return template.format(*parts)

    def has_key(self, key: str) -> bool:
        return key.startswith(self.prefix) if self.prefix != self.pattern else key == self.pattern


@dataclass(frozen=True, slots=True)
class DurableFamily(KeyFamily):
    """Keys without an expiry."""

    lifetime: None = field(default=None, init=False)


@dataclass(frozen=True, slots=True)
class ExpiringFamily(KeyFamily):
    lifetime: timedelta = field(kw_only=True)


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

# --- permanent

DUE_QUEUE = DurableFamily("agenda", "zset", "what is to be done, by seconds since 1970")
DIGEST_RECORD = DurableFamily(
    "digest:{team}:{channel}:{repository}:{days}",
    "hash",
    "what is known of a digest; with a colon and a fingerprint behind it where it shows a part",
)
MERGE_HISTORY = DurableFamily(
    "history:{repository}:{date}", "hash", "pull requests merged on a UTC date, by number", survives_reset=True
)

SCHEMA_VERSION = DurableFamily("schema", "string", "the version of what is kept for good", survives_reset=True)
STORE_OWNER = DurableFamily("owner", "string", "the workspace that the store belongs to")

# --- requests and answers

INITIAL_REPLY = ExpiringFamily("asked:{request}", "string", "what was said at once", lifetime=_HOUR)
# longer than a signature is valid by any clock
SIGNED_REQUEST = ExpiringFamily(
    "signed:{signature}", "string", "that a request of Slackbot came", lifetime=timedelta(minutes=15)
)
# Slack repeats deliveries for minutes, and a job may wait for a worker overnight
ANSWER_PROGRESS = ExpiringFamily(
    "answer:{request}:{part}", "hash", "how far a part of a request was answered", lifetime=_DAY
)
# who asks for the same thing later may well not find the answer any more
EARLIER_ANSWER = ExpiringFamily(
    "given:{channel}:{request}", "hash", "the last answer to a request", lifetime=_HOUR
)


# --- the clock and its reports

LAST_TICK = ExpiringFamily("clock:ticked", "string", "when the clock last ticked", lifetime=_DAY)
# the maximum of PRDIGEST_CATCH_UP_HOURS, and a week
DIGEST_ATTEMPT = ExpiringFamily(
    "sent:{subscription}:{due}",
    "string",
    "when a digest was first put on its queue; with a colon and its number behind it, that a try was",
    lifetime=7 * _DAY,
)
LAST_OUTCOME_CHECK = ExpiringFamily(
    "looked:{repository}", "string", "the UTC date of the last look", lifetime=30 * _DAY
)

# --- processes and jobs

REQUEST_RATE = ExpiringFamily("rate:{name}", "string", "requests in a second", lifetime=_MINUTE)
# after this time, the lease of a dead process is free again; a living one renews it three times in between
LEASE = ExpiringFamily("lease:{name}", "string", "who holds it", lifetime=timedelta(seconds=6))
JOB_ATTEMPTS = ExpiringFamily("attempts:{job}", "string", "how often a job began", lifetime=_DAY)
STORE_READINESS = ExpiringFamily("ready", "string", "that the store takes what is written", lifetime=_MINUTE)
WRITE_PROBE = ExpiringFamily("doctor:written", "string", "the same, of the doctor", lifetime=_MINUTE)

# Dramatiq builds these keys itself, of several types, and removes them; this is the namespace that it gets
JOBS_NAMESPACE = "dramatiq"


def find_family(key: str) -> KeyFamily | None:
    return next((family for family in FAMILIES if family.has_key(key)), None)


def build_jobs_key(part: str) -> str:
    """Build the key that Dramatiq uses for a queue, or for the heartbeats of its processes."""
    return f"{JOBS_NAMESPACE}:{part}"


def build_attempt_key(subscription: str, due: str, tries: str = "") -> str:
    """Build the key of the time at which a digest was first enqueued, or of one attempt."""
    key = DIGEST_ATTEMPT.build_key(subscription, due)
    return f"{key}:{tries}" if tries else key


@dataclass(frozen=True, slots=True)
class DigestKeyParts:
    team: str
    channel: str
    repository: str
    days: str  # a date or ``first..last``
    offsets: str  # from UTC, of the zone
    view: str = ""  # the fingerprint of a partial view

    @property
    def key(self) -> str:
        key = DIGEST_RECORD.build_key(self.team, self.channel, self.repository, f"{self.days}@{self.offsets}")
        return f"{key}:{self.view}" if self.view else key


def parse_digest_key(key: str) -> DigestKeyParts | None:
    kind, *parts = key.split(":")
    if f"{kind}:" != DIGEST_RECORD.prefix or len(parts) not in (4, 5):
        return None
    team, channel, repository, days, *view = parts
    dates, at, offsets = days.partition("@")
    return DigestKeyParts(team, channel, repository, dates, offsets, "".join(view)) if at else None


_SEPARATOR = ":"

# the key of the subscriptions, whose fields are their ids
SUBSCRIPTIONS_KEY = "subscriptions"
# a lease that belongs to no key: of jobs that may have ended a process
SUSPECTS_LEASE = "suspects"


def build_thread_name(channel: str, thread: str) -> str:
    return f"{channel}{_SEPARATOR}{thread}"


def build_request_name(kind: str, *parts: object) -> str:
    """Build the key of a request from Slack: the kind of the event, and what tells it from others of its kind."""
    return _SEPARATOR.join((kind, *map(str, parts)))


def build_person_name(team: str, user: str) -> str:
    return f"{team}{_SEPARATOR}{user}"


def build_links_rate(team: str, user: str) -> str:
    """Build the name under which messages of a person with links are counted."""
    return f"links{_SEPARATOR}{build_person_name(team, user)}"


def build_calls_rate(payer: str) -> str:
    return f"calls{_SEPARATOR}{payer}"


def build_agent_rate(client: str) -> str:
    return f"mcp{_SEPARATOR}{client}"


def parse_attempt_subscription(key: str) -> str:
    """Return the subscription of a key of ``DIGEST_ATTEMPT``; empty for other keys."""
    return key.removeprefix(DIGEST_ATTEMPT.prefix).partition(_SEPARATOR)[0] if DIGEST_ATTEMPT.has_key(key) else ""


def build_queue_key(namespace: str, queue: str) -> str:
    """Build the key of a queue of Dramatiq's. ``namespace`` has the prefix of the deployment."""
    return f"{namespace}{_SEPARATOR}{queue}"


def build_acknowledgements_key(namespace: str, worker: str, queue: str) -> str:
    """Build the key of the jobs that a worker took and has not acknowledged, as Dramatiq does."""
    return build_queue_key(namespace, f"__acks__.{worker}.{queue}")
