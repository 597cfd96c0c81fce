"""The kinds of jobs that belong to no command, with what the version before put on the queues for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter

from bot.domain.conversations.commands import ParseContext, Repositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.lane import Lane
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.request import ID, Which, Wish
from bot.render.conversations.greetings import Greeting
from bot.services.jobs.declaration import MINUTE, JobType, Retries
from bot.services.jobs.payloads import (
    AmendPayload,
    AskerPayload,
    DeliveryPayload,
    DetailsPayload,
    DigestPayload,
    FormPayload,
    GreetingPayload,
    LostJobPayload,
    PlacePayload,
    PreviewPayload,
    RepositoryPayload,
    SentencePayload,
    SubscriptionPayload,
    VotePayload,
)
from bot.services.subscriptions.subscription_commands import LIST, SUBSCRIBE

Fields = Mapping[str, str]

# what takes minutes is tried a few times: whoever asked waits for it
LONG = Retries(5)


def read_slack_request(fields: object) -> SlackRequest:
    """Read a request from Slack as jobs carry it. Raises ValueError."""
    return TypeAdapter(SlackRequest).validate_python(fields)


def _read_sentence(_: ParseContext, visit: Fields, sentence: str) -> SentencePayload:
    return SentencePayload(read_slack_request(visit), sentence)


def _read_greeting(_: ParseContext, visit: Fields, why: str) -> GreetingPayload:
    return GreetingPayload(read_slack_request(visit), Greeting(why))


def _read_details(context: ParseContext, visit: Fields, trigger: str, named: str) -> DetailsPayload:
    asker = replace(read_slack_request(visit), trigger=trigger)
    return DetailsPayload(asker, context.repositories.reference(named))


def _read_vote(_: ParseContext, visit: Fields, message: str, verdict: str) -> VotePayload:
    return VotePayload(read_slack_request(visit), message, verdict)


def _read_subscription(
    context: ParseContext, visit: Fields, verb: str, text: str, channel: str = "", replaces: str = ""
) -> SubscriptionPayload:
    asker, known = read_slack_request(visit), context.repositories
    wish = Wish.parse(text, known) if verb == SUBSCRIBE else None
    which = None if verb in (SUBSCRIBE, LIST) else Which.parse(text, known)
    return SubscriptionPayload(asker, verb, wish, which, channel, replaces)


def _read_preview(context: ParseContext, visit: Fields, text: str) -> PreviewPayload:
    return preview_of(read_slack_request(visit), text, context.repositories)


def preview_of(asker: SlackRequest, text: str, repositories: Repositories) -> PreviewPayload:
    """Read what somebody wants a preview of: an id, a wish, or nothing. Raises UsageError."""
    if ID.fullmatch(text.lower()):
        return PreviewPayload(asker, text.lower())
    return PreviewPayload(asker, wish=Wish.parse(text, repositories) if text else None)


def _read_form(_: ParseContext, visit: Fields, name: str) -> FormPayload:
    return FormPayload(read_slack_request(visit), name)


def _read_home(_: ParseContext, visit: Fields) -> AskerPayload:
    return AskerPayload(read_slack_request(visit))


def _read_place(_: ParseContext, place: str) -> PlacePayload:
    return PlacePayload(place)


def _read_delivery(_: ParseContext, name: str, due: str) -> DeliveryPayload:
    return DeliveryPayload(name, datetime.fromisoformat(due))


def _read_digest(_: ParseContext, key: str) -> DigestPayload:
    return DigestPayload(key)


def _read_amendment(_: ParseContext, key: str) -> AmendPayload:
    return AmendPayload(key)


def _read_repository(_: ParseContext, repository: str) -> RepositoryPayload:
    return RepositoryPayload(Repository.parse(repository))


def _read_lost_job(
    _: ParseContext, job: str, name: str, loss: str, at: str, given: Fields | str = ""
) -> LostJobPayload:
    lost = LostJob(job, name, LossReason(loss), datetime.fromisoformat(at))
    if not isinstance(given, str):
        return LostJobPayload(lost, read_slack_request(given))
    return LostJobPayload(lost, place=given if name == QUESTIONS.name else "")


TELL = JobType("tell", SentencePayload, _read_sentence)
SAY = JobType("say", SentencePayload, _read_sentence)
GREET = JobType("greet", GreetingPayload, _read_greeting)
DETAILS = JobType("details", DetailsPayload, _read_details)
VOTES = JobType("votes", VotePayload, _read_vote)
REGULAR = JobType("regular", SubscriptionPayload, _read_subscription)
PREVIEW = JobType("preview", PreviewPayload, _read_preview, Lane.LONG, LONG)
FORM = JobType("form", FormPayload, _read_form)
HOME = JobType("home", AskerPayload, _read_home)
QUESTIONS = JobType("questions", PlacePayload, _read_place, Lane.TALK)
# what fails is put on the queue again by the schedule; only a store that is away is waited for here
DELIVER = JobType("deliver", DeliveryPayload, _read_delivery, Lane.LONG, Retries(20))
MEND = JobType("mend", DigestPayload, _read_digest, Lane.LONG, Retries(20))
# what fails is looked at again some hours later
WATCH = JobType("watch", RepositoryPayload, _read_repository, Lane.LONG, Retries(3, MINUTE))
AMEND = JobType("amend", AmendPayload, _read_amendment, Lane.LONG, Retries(8, longest_pause=MINUTE))
END = JobType("end", LostJobPayload, _read_lost_job)
