"""The job types that belong to no command."""

from __future__ import annotations

from bot.domain.operations.lane import QueueName
from bot.platform.jobs import MINUTE, JobRetries, JobType
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
    LostJobPayload,
    NoticePayload,
    PreviewPayload,
    ProfilePayload,
    RepositoryPayload,
    SubscriptionPayload,
    ThreadPayload,
    VotePayload,
)

# a job that takes minutes has few retries: its asker is waiting
LONG_RETRIES = JobRetries(5)

SEND_PRIVATE_NOTICE = JobType("tell", NoticePayload)
POST_PUBLIC_NOTICE = JobType("say", NoticePayload)
SEND_GREETING = JobType("greet", GreetingPayload)
SHOW_DETAILS = JobType("details", DetailsPayload)
EXPLAIN_ASKING = JobType("ask_hint", AskerPayload)
RECORD_VOTE = JobType("votes", VotePayload)
RECORD_HIT_VOTE = JobType("hit_votes", HitVotePayload)
SHOW_AGENT_TASK = JobType("agent_task", AgentTaskPayload)
CHANGE_SUBSCRIPTION = JobType("regular", SubscriptionPayload)
SHOW_PREVIEW = JobType("preview", PreviewPayload, QueueName.LONG, LONG_RETRIES)
SHOW_FORM = JobType("form", FormPayload)
OPEN_REFERENCE_FORM = JobType("reference_form", AskerPayload)
SHOW_HOME = JobType("home", AskerPayload)
ANSWER_QUESTIONS = JobType("questions", ThreadPayload, QueueName.TALK)
# the schedule enqueues failed jobs again; retries here are for an unavailable store only
DELIVER_DIGEST = JobType("deliver", DeliveryPayload, QueueName.LONG, JobRetries(20))
REPAIR_DIGEST = JobType("mend", DigestPayload, QueueName.LONG, JobRetries(20))
# after a failure, the next check is some hours later
WATCH_REPOSITORY = JobType("watch", RepositoryPayload, QueueName.LONG, JobRetries(3, MINUTE))
# after a failure, the next scan is a day later; the profile stays as it was
REFRESH_PROFILE = JobType("refresh_profile", ProfilePayload, QueueName.LONG, JobRetries(3, MINUTE))
AMEND_DIGEST = JobType("amend", AmendmentPayload, QueueName.LONG, JobRetries(8, longest_pause=MINUTE))
# Slack may be away for hours, and nothing else says to the asker that nothing comes: ten to twenty hours in all,
# less than the day for which it is known what was answered
REPORT_LOSS = JobType("end", LostJobPayload, retries=JobRetries(70, longest_pause=20 * MINUTE))
