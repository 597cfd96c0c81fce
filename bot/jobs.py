"""The work that one process hands to another: Dramatiq actors of a few lines, each calls a service.

Delivery is at least once: a worker that is killed has its jobs run again elsewhere after some ten seconds, and
a digest that was posted is not posted again.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Any

from dramatiq import Actor, BrokerError
from dramatiq.brokers.redis import RedisBroker
from redis.exceptions import RedisError
from slack_sdk.webhook import WebhookClient

from bot.domain.days import LocalDay, date_of, zone_of
from bot.domain.errors import PrdigestError, SlackRefused, SlackUnavailable, StoreUnavailable
from bot.domain.pulls import Repository
from bot.domain.references import Reference
from bot.ports import Post
from bot.render.digest import Rendered, render
from bot.wiring import Wiring

log = logging.getLogger(__name__)

_MINUTE = 60_000  # milliseconds


class ActorQueue:
    """``Queue`` of the messages to one actor."""

    def __init__(self, actor: Actor[Any, None]) -> None:
        self._actor = actor

    def send(self, *arguments: Any) -> None:
        """Put a message on the queue."""
        try:
            self._actor.send(*arguments)
        except (RedisError, BrokerError) as error:
            raise StoreUnavailable("The store does not take jobs: start Redis or check REDIS_URL.") from error


class Jobs:
    """The actors on a store's queue; ``send`` puts a job there, a worker runs it."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        # a worker without a heartbeat for ten seconds is dead, and every poll looks for the jobs of the dead
        self.broker = RedisBroker(  # type: ignore[no-untyped-call]
            client=wiring.store, heartbeat_timeout=10_000, maintenance_chance=1_000_000
        )
        self.digest = self._actor(self._digest, max_retries=20, min_backoff=_MINUTE // 2, max_backoff=15 * _MINUTE)
        self.summary = self._actor(self._summary, max_retries=3)
        self.risks = self._actor(self._risks, max_retries=3)

    def _actor(self, work: Callable[..., None], **options: Any) -> ActorQueue:
        name = work.__name__.strip("_")
        limits = {"time_limit": 20 * _MINUTE, **options}
        actor = Actor(work, broker=self.broker, actor_name=name, queue_name="prdigest", priority=0, options=limits)
        return ActorQueue(actor)

    def _digest(
        self, channel: str, repository: str, date: str, zone: str, name: str, response_url: str = ""
    ) -> None:
        """Post the digest of a day. A refusal that a person must mend is told and logged, not tried again."""
        place, day = _named(repository, date, zone)

        def build() -> Rendered:
            return render(self._wiring.daily.build(place, day, name))

        try:
            published = self._wiring.publisher.publish(channel, place, day, build)
        except SlackRefused as error:
            log.error("the digest of %s on %s was not posted: %s", place, date, error)  # noqa: TRY400 (a sentence)
            if response_url:
                _send(response_url, {"text": str(error)})
            return
        log.info("digest of %s on %s: %s", place, date, published.address)

    def _summary(self, response_url: str, repository: str, number: int) -> None:
        reference = Reference(Repository.parse(repository), number)
        _answer(response_url, lambda: self._wiring.answers.summary(reference))

    def _risks(self, response_url: str, repository: str, date: str, zone: str, name: str) -> None:
        place, day = _named(repository, date, zone)
        _answer(response_url, lambda: self._wiring.answers.risks(place, day, name))


def _named(repository: str, date: str, zone: str) -> tuple[Repository, LocalDay]:
    return Repository.parse(repository), LocalDay(date_of(date), zone_of(zone))


def _answer(response_url: str, make: Callable[[], Post]) -> None:
    """Tell the one who asked; what went wrong as one sentence, with a reference that the log carries too."""
    try:
        payload = make().payload()
    except PrdigestError as error:
        reference = secrets.token_hex(3)
        log.warning("an answer failed [%s]: %s", reference, error)
        payload = {"text": f"{error} [{reference}]"}
    _send(response_url, payload)


def _send(response_url: str, payload: dict[str, Any]) -> None:
    answer = WebhookClient(response_url).send(**payload, response_type="ephemeral")
    if answer.status_code >= 500:
        raise SlackUnavailable("Slack did not take the answer.")
    if answer.status_code != 200:
        log.warning("Slack refused an answer with status %s; the command may be too old", answer.status_code)
