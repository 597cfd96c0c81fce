"""The work that one process hands to another: Dramatiq actors of a few lines, each calls a service.

Delivery is at least once: a worker that is killed has its jobs run again elsewhere after some ten seconds. What a
job did it finds done when it runs again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Any

from dramatiq import Actor, BrokerError, MessageProxy, Worker
from dramatiq.brokers.redis import RedisBroker
from redis import Redis

from bot.adapters.redis import broker_of, in_a_line, translate_redis_errors
from bot.container import Wiring
from bot.domain.conversations.commands import DigestRequest, RisksRequest, ScoreRequest, SummaryRequest
from bot.domain.conversations.slack_request import Audience, Visit
from bot.domain.errors import PrdigestError, RateLimited, SlackUnavailable, StoreUnavailable, UsageError
from bot.domain.operations.budget import OWN_SPENT
from bot.domain.operations.lost_job import Loss, LostJob
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import Edition
from bot.domain.time.date_range import written_span
from bot.domain.time.day import zone_of
from bot.render.conversations.greetings import Greeting, greeting
from bot.render.conversations.notices import already_there, describe_error, notice
from bot.services.operations import deadlines
from bot.services.operations.deadlines import Ending
from bot.services.operations.payer import bill_to, name_payer
from bot.services.operations.worker_threads import Crew, result_of
from bot.services.slack.replies import Answer

log = logging.getLogger(__name__)

_SECOND = 1_000  # milliseconds
_MINUTE = 60 * _SECOND
# days of a busy repository that nobody read before take minutes; such jobs don't keep the quick ones waiting
_LONG_THREADS = 2
# milliseconds between two looks for work; a second, as usual, would be felt by those who wait
_LOOK = 200
_THANKS = "Noted, thank you: it is kept with the question and what the answer was made of."
_FORGOTTEN = "That answer is too old for me to know what it was made of: ask again, then vote."
_QUICK, _LONG, _TALK = "prdigest", "prdigest-long", "prdigest-questions"


@dataclass(frozen=True, slots=True)
class Times:
    """How many seconds one try of a job may take.

    Who asked for something ``quick`` is told within that what came of it. A day of a busy repository that nobody
    read before takes a minute, an overview has up to fourteen (``long``). Of the questions in a thread each has
    a time of its own, so that their job has none.
    """

    quick: float = 120.0
    long: float = 1_200.0


class ActorQueue:
    """``Queue`` of the messages to one actor."""

    def __init__(self, actor: Actor[Any, None]) -> None:
        self._actor = actor
        self.name = actor.actor_name

    def send(self, *arguments: Any) -> None:
        """Put a message on the queue."""
        try:
            with translate_redis_errors():
                self._actor.send(*arguments)
        except BrokerError as error:
            raise StoreUnavailable("The store does not take jobs: start Redis or check REDIS_URL.") from error


class Jobs:
    """The actors on a store's queues; ``send`` puts a job there, a worker runs it."""

    def __init__(self, wiring: Wiring, store: Redis, ending: Ending | None = None, times: Times = Times()) -> None:
        """``ending`` interrupts jobs that run, which go back to their queues."""
        self._wiring = wiring
        self._ending = ending or Ending()
        self._times = times
        self._quick, self._long, self._talk = (broker_of(store, self._lost, wiring.keys) for _ in range(3))
        self.summary = self._answering(self._summary)
        self.risks = self._answering(self._risks)
        self.score = self._answering(self._score)
        self.details = self._answering(self._details)
        self.tell = self._answering(self._tell)
        self.say = self._answering(self._say)
        self.greet = self._answering(self._greet)
        self.votes = self._answering(self._votes)
        self.regular = self._answering(self._regular)
        self.form = self._answering(self._form)
        self.home = self._answering(self._home)
        self.end = self._answering(self._end)
        self.preview = self._on(self._long, self._preview, max_retries=5, min_backoff=_SECOND)
        self.questions = self._on(
            self._talk,
            self._questions,
            max_retries=8,
            min_backoff=_SECOND,
            max_backoff=_MINUTE,
        )
        self.long_risks = self._on(self._long, self._long_risks, max_retries=5, min_backoff=_SECOND)
        self.overview = self._on(self._long, self._overview, max_retries=5, min_backoff=_SECOND)
        self.digest = self._on(
            self._long, self._digest, max_retries=20, min_backoff=_MINUTE // 2, max_backoff=15 * _MINUTE
        )
        # what fails is put on the queue again by the schedule; only a store that is away is waited for here
        self.deliver = self._on(self._long, self._deliver, max_retries=20, min_backoff=_SECOND)
        self.mend = self._on(self._long, self._mend, max_retries=20, min_backoff=_SECOND)
        # what fails is looked at again some hours later
        self.watch = self._on(self._long, self._watch, max_retries=3, min_backoff=_MINUTE)
        self.amend = self._on(self._long, self._amend, max_retries=8, min_backoff=_SECOND, max_backoff=_MINUTE)

    def workers(self, threads: int) -> tuple[Worker, ...]:
        """Those who run the jobs: ``threads`` for the quick ones, as many for questions, two for the long ones."""
        lanes = ((self._quick, threads), (self._talk, threads), (self._long, _LONG_THREADS))
        return tuple(Worker(broker, worker_threads=count, worker_timeout=_LOOK) for broker, count in lanes)

    def close(self) -> None:
        """Let go of the brokers."""
        for broker in (self._quick, self._long, self._talk):
            broker.close()

    def _answering(self, work: Callable[..., None]) -> ActorQueue:
        """Somebody waits for these: they are tried again soon."""
        return self._on(self._quick, work, max_retries=8, min_backoff=_SECOND, max_backoff=_MINUTE)

    def _on(self, broker: RedisBroker, work: Callable[..., None], **options: Any) -> ActorQueue:
        name = work.__name__.strip("_")
        queue = {self._quick: _QUICK, self._long: _LONG, self._talk: _TALK}[broker]
        seconds = {self._quick: self._times.quick, self._long: self._times.long, self._talk: math.inf}[broker]
        limited = partial(deadlines.within, seconds, self._ending, deadlines.MOST_WAITS)
        # Dramatiq's own time limit does not run in workers that share their process, and would not reach a thread
        # that waits for another one
        actor = Actor(
            in_a_line(self._billed(work), limited),
            broker=broker,
            actor_name=name,
            queue_name=queue,
            priority=0,
            options=options,
        )
        return ActorQueue(actor)

    def _billed(self, work: Callable[..., None]) -> Callable[..., None]:
        """The same work, paid by whoever visits, or by the bot. Who has no budget left is told, once a day."""

        @wraps(work)
        def done(*arguments: Any) -> None:
            visit = Visit(**arguments[0]) if arguments and isinstance(arguments[0], Mapping) else None
            with bill_to(name_payer(visit) if visit else "") as account:
                work(*arguments)
            if visit and OWN_SPENT in account.refusals:
                self._wiring.replies.tell_of_budget(visit, self._wiring.today())

        return done

    def _summary(self, visit: Mapping[str, str], text: str, audience: str) -> None:
        """Read all at once, answer in the order in which they were named."""
        asked, request = Visit(**visit), SummaryRequest.parse(text, self._wiring.repositories)
        answers = self._wiring.answers
        with deadlines.sparing(self._wiring.replies.promises.telling):
            crew = Crew(len(request.references), "summary")
            made = {named: crew.submit(answers.summary, named, asked.name) for named in request.references}
        late: RateLimited | None = None
        for named, answer in made.items():
            try:
                self._wiring.replies.give(asked, str(named), Audience(audience), partial(result_of, answer))
            except RateLimited as error:
                # the others need not wait until this one may be read
                late = error
        if late:
            raise late

    def _risks(self, visit: Mapping[str, str], text: str, audience: str) -> None:
        def make(asker: str) -> Answer:
            request = RisksRequest.parse(text, self._wiring.repositories, self._wiring.today())
            return self._wiring.answers.risks(request, asker)

        self._reply(visit, "risks", audience, make)

    def _long_risks(self, visit: Mapping[str, str], text: str, audience: str) -> None:
        self._risks(visit, text, audience)

    def _score(self, visit: Mapping[str, str], text: str, audience: str) -> None:
        def make(asker: str) -> Answer:
            request = ScoreRequest.parse(text, self._wiring.repositories, self._wiring.today())
            return self._wiring.answers.score(request, asker)

        self._reply(visit, "score", audience, make)

    def _overview(self, visit: Mapping[str, str], text: str, audience: str) -> None:
        wiring, asked = self._wiring, Visit(**visit)

        def make(asker: str) -> Answer:
            request = DigestRequest.parse(text, wiring.repositories, wiring.today(), wiring.today)
            wiring.scheduling.rights.require_presence(asked)
            return wiring.answers.overview(request, asker, asked.channel)

        self._reply(visit, "overview", audience, make)

    def _reply(self, visit: Mapping[str, str], part: str, audience: str, make: Callable[[str], Answer]) -> None:
        asked = Visit(**visit)
        self._wiring.replies.give(asked, part, Audience(audience), lambda: make(asked.name))

    def _details(self, visit: Mapping[str, str], trigger: str, named: str) -> None:
        reference = self._wiring.repositories.reference(named)
        self._wiring.details.show(Visit(**visit), trigger, reference)

    def _tell(self, visit: Mapping[str, str], sentence: str) -> None:
        self._wiring.replies.tell(Visit(**visit), sentence)

    def _say(self, visit: Mapping[str, str], sentence: str) -> None:
        """For everybody in the thread to read."""
        said = Answer.for_asker(notice(sentence))
        self._wiring.replies.give(Visit(**visit), "say", Audience.CHANNEL, lambda: said)

    def _greet(self, visit: Mapping[str, str], why: str) -> None:
        asked = Visit(**visit)
        said = Answer.for_asker(greeting(Greeting(why), self._wiring.repositories.default))
        if asked.message or not asked.is_direct:
            self._wiring.replies.give(asked, "greeting", Audience.HERE, lambda: said)
        elif self._wiring.scheduling.subscribing.welcomes(asked):
            # who comes to the direct messages is welcomed once, and need not have written
            self._wiring.replies.give(asked, "greeting", Audience.CHANNEL, lambda: said)
            self._wiring.talking.welcomes.note(asked.user)

    def _regular(
        self, visit: Mapping[str, str], verb: str, text: str, channel: str = "", replaces: str = ""
    ) -> None:
        """What somebody says of their regular digests. Who is in App Home sees there what came of it."""
        asked = Visit(**visit)

        def make() -> Answer:
            return self._wiring.scheduling.regular.answer(asked, verb, text, channel, replaces)

        if asked.channel:
            self._wiring.replies.give(asked, "regular", Audience.HERE, make)
            return
        try:
            note = make().private.text
        except (SlackUnavailable, StoreUnavailable):
            raise
        except UsageError as error:
            note = str(error)
        except PrdigestError as error:
            log.warning("not done [%s]: %s", asked.reference, error)
            note = describe_error(error, asked.reference)
        self._wiring.scheduling.home.show(asked.user, note)

    def _preview(self, visit: Mapping[str, str], text: str) -> None:
        self._reply(visit, "preview", Audience.ASKER, lambda _: self._previewed(Visit(**visit), text))

    def _previewed(self, visit: Visit, text: str) -> Answer:
        return self._wiring.scheduling.regular.preview(visit, text)

    def _form(self, visit: Mapping[str, str], name: str) -> None:
        self._wiring.scheduling.forms.open(Visit(**visit), name)

    def _home(self, visit: Mapping[str, str]) -> None:
        self._wiring.scheduling.home.open(Visit(**visit))

    def _votes(self, visit: Mapping[str, str], message: str, verdict: str) -> None:
        is_known = self._wiring.talking.votes.vote(Visit(**visit), message, verdict)
        self._tell(visit, _THANKS if is_known else _FORGOTTEN)

    def _questions(self, place: str) -> None:
        self._wiring.talking.conversations.serve(place)

    def _lost(self, message: MessageProxy, loss: Loss) -> None:
        """Have it said that a job will not be done; by a job of its own, for Slack may not take that now."""
        if message.actor_name == self.end.name:
            log.error("nobody could be told that a job was given up: %s", message.args[1:2])
            return
        at = datetime.now(UTC).isoformat()
        self.end.send(message.message_id, message.actor_name, loss.value, at, *message.args[:1])

    def _end(self, job: str, name: str, loss: str, at: str, given: Mapping[str, str] | str = "") -> None:
        """Say that a job will not be done, and let those go on who waited behind it."""
        lost = LostJob(job, name, Loss(loss), datetime.fromisoformat(at))
        self._wiring.lost_jobs.tell(lost, given)
        if name == self.questions.name:
            self.questions.send(given)

    def _digest(self, visit: Mapping[str, str], repository: str, date: str, zone: str) -> None:
        """Post the digest of a day for a visitor, who is told what went wrong."""
        asked, span = Visit(**visit), written_span(date, zone_of(zone))
        edition = Edition(asked.channel, Repository.parse(repository), span)
        self._wiring.replies.give(asked, "digest", Audience.ASKER, lambda: self._published_for(asked, edition))

    def _published_for(self, asked: Visit, edition: Edition) -> Answer | None:
        self._wiring.scheduling.rights.require_presence(asked)
        published = self._wiring.scheduling.delivery.publish(edition)
        return Answer.for_asker(already_there(published.address)) if published.already else None

    def _deliver(self, name: str, due: str) -> None:
        self._wiring.scheduling.delivery.deliver(name, datetime.fromisoformat(due))
        self._wiring.scheduling.subscribing.keep_up(name)

    def _mend(self, key: str) -> None:
        self._wiring.scheduling.delivery.mend(key)

    def _watch(self, repository: str) -> None:
        self._wiring.scheduling.aftermath.look(Repository.parse(repository), self.amend)

    def _amend(self, key: str) -> None:
        self._wiring.scheduling.aftermath.amend(key)
