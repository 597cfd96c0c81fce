"""The job types that belong to no command, and the readers of their payloads of the previous version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter

from bot.domain.conversations.commands import AllowedRepositories, ParseContext
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.lane import QueueName
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.request import (
    ID_PATTERN,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
)
from bot.render.blocks.button_values import FeedbackVerdict
from bot.render.conversations.greetings import Greeting
from bot.services.jobs.declaration import MINUTE, SECOND, JobRetries, JobType
from bot.services.jobs.payloads import (
    AgentTaskPayload,
    AmendmentPayload,
    AskerPayload,
    DeliveryPayload,
    DetailsPayload,
    DigestPayload,
    FormPayload,
    GreetingPayload,
    HitVotePayload,
    LinksPayload,
    LostJobPayload,
    NoticePayload,
    PreviewPayload,
    PreviewSwitchPayload,
    ProfilePayload,
    RepositoryPayload,
    SubscriptionPayload,
    ThreadPayload,
    VotePayload,
)

StoredFields = Mapping[str, str]

# a job that takes minutes has few retries: its asker is waiting
LONG_RETRIES = JobRetries(5)


def read_slack_request(fields: object) -> SlackRequest:
    """Read a request from Slack from a payload. Raises ValueError."""
    return TypeAdapter(SlackRequest).validate_python(fields)


def _read_sentence(_: ParseContext, slack_request: StoredFields, sentence: str) -> NoticePayload:
    return NoticePayload(read_slack_request(slack_request), sentence)


def _read_greeting(_: ParseContext, slack_request: StoredFields, why: str) -> GreetingPayload:
    return GreetingPayload(read_slack_request(slack_request), Greeting(why))


def _read_details(context: ParseContext, slack_request: StoredFields, trigger: str, text: str) -> DetailsPayload:
    asker = replace(read_slack_request(slack_request), trigger=trigger)
    return DetailsPayload(asker, context.repositories.parse_pull_request(text))


def _read_vote(_: ParseContext, slack_request: StoredFields, message: str, verdict: str) -> VotePayload:
    return VotePayload(read_slack_request(slack_request), message, FeedbackVerdict(verdict))


def _read_subscription(
    context: ParseContext, slack_request: StoredFields, verb: str, text: str, channel: str = "", replaces: str = ""
) -> SubscriptionPayload:
    asker, repositories = read_slack_request(slack_request), context.repositories
    known_verb = SubscriptionVerb(verb)
    request = SubscriptionRequest.parse(text, repositories) if known_verb is SubscriptionVerb.SUBSCRIBE else None
    selector = SubscriptionSelector.parse(text, repositories) if known_verb.has_selector else None
    return SubscriptionPayload(asker, known_verb, request, selector, channel, replaces)


def _read_preview(context: ParseContext, slack_request: StoredFields, text: str) -> PreviewPayload:
    return parse_preview(read_slack_request(slack_request), text, context.repositories)


def parse_preview(asker: SlackRequest, text: str, repositories: AllowedRepositories) -> PreviewPayload:
    """Parse the subject of a preview: an id, a request, or nothing. Raises UsageError."""
    if ID_PATTERN.fullmatch(text.lower()):
        return PreviewPayload(asker, text.lower())
    return PreviewPayload(asker, wish=SubscriptionRequest.parse(text, repositories) if text else None)


def _read_form(_: ParseContext, slack_request: StoredFields, name: str) -> FormPayload:
    return FormPayload(read_slack_request(slack_request), name)


def _read_home(_: ParseContext, slack_request: StoredFields) -> AskerPayload:
    return AskerPayload(read_slack_request(slack_request))


def _read_place(_: ParseContext, place: str) -> ThreadPayload:
    return ThreadPayload(place)


def _read_delivery(_: ParseContext, name: str, due: str) -> DeliveryPayload:
    return DeliveryPayload(name, datetime.fromisoformat(due))


def _read_digest(_: ParseContext, key: str) -> DigestPayload:
    return DigestPayload(key)


def _read_amendment(_: ParseContext, key: str) -> AmendmentPayload:
    return AmendmentPayload(key)


def _read_repository(_: ParseContext, repository: str) -> RepositoryPayload:
    return RepositoryPayload(Repository.parse(repository))


def _read_lost_job(
    _: ParseContext, job: str, name: str, loss: str, at: str, origin: StoredFields | str = ""
) -> LostJobPayload:
    lost = LostJob(job, name, LossReason(loss), datetime.fromisoformat(at))
    if not isinstance(origin, str):
        return LostJobPayload(lost, read_slack_request(origin))
    return LostJobPayload(lost, place=origin if name == ANSWER_QUESTIONS.name else "")


SEND_PRIVATE_NOTICE = JobType("tell", NoticePayload, _read_sentence)
POST_PUBLIC_NOTICE = JobType("say", NoticePayload, _read_sentence)
SEND_GREETING = JobType("greet", GreetingPayload, _read_greeting)
SHOW_DETAILS = JobType("details", DetailsPayload, _read_details)
EXPLAIN_ASKING = JobType("ask_hint", AskerPayload)
RECORD_VOTE = JobType("votes", VotePayload, _read_vote)
RECORD_HIT_VOTE = JobType("hit_votes", HitVotePayload)
SHOW_AGENT_TASK = JobType("agent_task", AgentTaskPayload)
CHANGE_SUBSCRIPTION = JobType("regular", SubscriptionPayload, _read_subscription)
SHOW_PREVIEW = JobType("preview", PreviewPayload, _read_preview, QueueName.LONG, LONG_RETRIES)
SHOW_FORM = JobType("form", FormPayload, _read_form)
OPEN_REFERENCE_FORM = JobType("reference_form", AskerPayload)
SHOW_HOME = JobType("home", AskerPayload, _read_home)
SWITCH_LINK_PREVIEWS = JobType("link_preview_switch", PreviewSwitchPayload)
# minutes later, nobody looks for a card any more
SHOW_LINK_PREVIEWS = JobType("link_previews", LinksPayload, retries=JobRetries(3))
# other apps show their cards within seconds
CHECK_LINK_PREVIEWS = JobType("link_preview_check", LinksPayload, retries=JobRetries(3), delay=5 * SECOND)
ANSWER_QUESTIONS = JobType("questions", ThreadPayload, _read_place, QueueName.TALK)
# the schedule enqueues failed jobs again; retries here are for an unavailable store only
DELIVER_DIGEST = JobType("deliver", DeliveryPayload, _read_delivery, QueueName.LONG, JobRetries(20))
REPAIR_DIGEST = JobType("mend", DigestPayload, _read_digest, QueueName.LONG, JobRetries(20))
# after a failure, the next check is some hours later
WATCH_REPOSITORY = JobType("watch", RepositoryPayload, _read_repository, QueueName.LONG, JobRetries(3, MINUTE))
# after a failure, the next scan is a day later; the profile stays as it was
REFRESH_PROFILE = JobType("refresh_profile", ProfilePayload, lane=QueueName.LONG, retries=JobRetries(3, MINUTE))
AMEND_DIGEST = JobType(
    "amend", AmendmentPayload, _read_amendment, QueueName.LONG, JobRetries(8, longest_pause=MINUTE)
)
# Slack may be away for hours, and nothing else says to the asker that nothing comes: ten to twenty hours in all,
# less than the day for which it is known what was answered
REPORT_LOSS = JobType("end", LostJobPayload, _read_lost_job, retries=JobRetries(70, longest_pause=20 * MINUTE))
