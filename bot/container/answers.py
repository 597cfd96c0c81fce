"""The services that answer people: what they ask for, as messages, and how it reaches them."""

from __future__ import annotations

from functools import partial

from bot.adapters.slack import SlackEphemeralMessenger
from bot.container.digests import DigestServices
from bot.container.foundation import Foundation
from bot.container.from_settings import get_display_name
from bot.container.questions import remember_answer
from bot.container.records import build_answered_requests
from bot.services.digest.composer import DigestComposer
from bot.services.questions.thread_memory import ThreadMemories
from bot.services.risk.risk_lister import RiskLister
from bot.services.slack.answers import AnswerBuilder
from bot.services.slack.replies import ReplySender


def build_answers(base: Foundation, digests: DigestServices, composer: DigestComposer) -> AnswerBuilder:
    """Build the builder of summaries, lists of risks and overviews, as messages."""
    history = digests.history
    risks = RiskLister(
        digests.pulls,
        digests.reader,
        digests.entries,
        base.settings.prdigest_concurrency,
        digests.paths.get_path_classes,
        history.timeline.read_merges_or_none,
        history.track_record.is_reduced,
    )
    return AnswerBuilder(
        digests.entries,
        risks,
        composer.build_days,
        partial(get_display_name, base.settings),
        base.get_today,
        history.track_record.score_lists,
    )


def build_replies(base: Foundation, memories: ThreadMemories) -> ReplySender:
    """Build what answers each request once. Raises ConfigurationError without a token, and StoreUnavailable."""
    return ReplySender(
        base.messenger,
        SlackEphemeralMessenger(base.slack),
        build_answered_requests(base),
        base.now,
        partial(remember_answer, memories),
        base.response_times,
    )
