"""Every key of the store: its content and lifetime, and functions that build and parse it.

Keys here lack the prefix of a deployment, which the adapter of the store adds. The scope of resets and the
lifetime of each key are derived from this list; no other module spells a key.
"""

from __future__ import annotations

from datetime import timedelta

from bot.domain.keyspace.family import FAMILIES, DurableFamily, ExpiringFamily, KeyFamily

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

# --- permanent

DUE_QUEUE = DurableFamily(pattern="agenda", type="zset", content="what is to be done, by seconds since 1970")
DIGEST_RECORD = DurableFamily(
    pattern="digest:{team}:{channel}:{repository}:{days}",
    type="hash",
    content="what is known of a digest; with a colon and a fingerprint behind it where it shows a part",
)
MERGE_HISTORY = DurableFamily(
    pattern="history:{repository}:{date}",
    type="hash",
    content="pull requests merged on a UTC date, by number",
    survives_reset=True,
)

SCHEMA_VERSION = DurableFamily(
    pattern="schema",
    type="string",
    content="the version of what is kept for good",
    survives_reset=True,
)
STORE_OWNER = DurableFamily(pattern="owner", type="string", content="the workspace that the store belongs to")

# --- requests and answers

INITIAL_REPLY = ExpiringFamily(
    pattern="asked:{request}", type="string", content="what was said at once", lifetime=_HOUR
)
# Slack repeats deliveries for minutes, and a job may wait for a worker overnight
ANSWER_PROGRESS = ExpiringFamily(
    pattern="answer:{request}:{part}",
    type="hash",
    content="how far a part of a request was answered",
    lifetime=_DAY,
)
# who asks for the same thing later may well not find the answer any more
EARLIER_ANSWER = ExpiringFamily(
    pattern="given:{channel}:{request}", type="hash", content="the last answer to a request", lifetime=_HOUR
)


# --- the clock and its reports

LAST_TICK = ExpiringFamily(
    pattern="clock:ticked", type="string", content="when the clock last ticked", lifetime=_DAY
)
# the maximum of PRDIGEST_CATCH_UP_HOURS
DIGEST_ATTEMPT = ExpiringFamily(
    pattern="sent:{subscription}:{due}",
    type="string",
    content="when a digest was first put on its queue; with a colon and its number behind it, that a try was",
    lifetime=7 * _DAY,
)
LAST_OUTCOME_CHECK = ExpiringFamily(
    pattern="looked:{repository}", type="string", content="the UTC date of the last look", lifetime=30 * _DAY
)

# --- processes and jobs

REQUEST_RATE = ExpiringFamily(
    pattern="rate:{name}", type="string", content="requests in a second", lifetime=_MINUTE
)
# after this time, the lease of a dead process is free again; a living one renews it three times in between
LEASE = ExpiringFamily(
    pattern="lease:{name}", type="string", content="who holds it", lifetime=timedelta(seconds=6)
)
JOB_ATTEMPTS = ExpiringFamily(
    pattern="attempts:{job}", type="string", content="how often a job began", lifetime=_DAY
)
# as long as Dramatiq keeps the messages of these jobs
DEAD_JOBS = ExpiringFamily(
    pattern="aside", type="zset", content="jobs that were set aside, by time", lifetime=7 * _DAY
)
STORE_READINESS = ExpiringFamily(
    pattern="ready", type="string", content="that the store takes what is written", lifetime=_MINUTE
)
WRITE_PROBE = ExpiringFamily(
    pattern="doctor:written", type="string", content="the same, of the doctor", lifetime=_MINUTE
)

# Dramatiq builds these keys itself, of several types, and removes them; this is the namespace that it gets
JOBS_NAMESPACE = "dramatiq"


def find_family(key: str) -> KeyFamily | None:
    """Return the family of a key; None for a key of Dramatiq or of other software."""
    return next((family for family in FAMILIES if family.has_key(key)), None)


def build_jobs_key(part: str) -> str:
    """Build the key that Dramatiq uses for a queue, or for the heartbeats of its processes."""
    return f"{JOBS_NAMESPACE}:{part}"


def build_attempt_key(subscription: str, due: str, tries: str = "") -> str:
    """Build the key of the time at which a digest was first enqueued, or of one attempt."""
    key = DIGEST_ATTEMPT.build_key(subscription, due)
    return f"{key}:{tries}" if tries else key
