"""Names within the store: parts of keys that more than one module builds or parses, and fields of its hashes.

They are stored, so they never change.
"""

from __future__ import annotations

from bot.domain.keyspace.keys import DIGEST_ATTEMPT

_SEPARATOR = ":"

# the key of the subscriptions, whose fields are their ids
SUBSCRIPTIONS_KEY = "subscriptions"
# a lease that belongs to no key: of jobs that may have ended a process
SUSPECTS_LEASE = "suspects"


def build_thread_name(channel: str, thread: str) -> str:
    """Build the name of a thread, or of one of its messages, from its channel and its timestamp."""
    return f"{channel}{_SEPARATOR}{thread}"


def build_request_name(kind: str, *parts: object) -> str:
    """Build the key of a request from Slack: the kind of the event, and what tells it from others of its kind."""
    return _SEPARATOR.join((kind, *map(str, parts)))


def build_person_name(team: str, user: str) -> str:
    """Build the name under which what a person asks for and spends is counted."""
    return f"{team}{_SEPARATOR}{user}"


def build_links_rate(team: str, user: str) -> str:
    """Build the name under which messages of a person with links are counted."""
    return f"links{_SEPARATOR}{build_person_name(team, user)}"


def build_calls_rate(payer: str) -> str:
    """Build the name under which the model calls of a payer are counted."""
    return f"calls{_SEPARATOR}{payer}"


def build_agent_rate(client: str) -> str:
    """Build the name under which the calls of an agent are counted."""
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
