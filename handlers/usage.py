"""``/prdigest usage``: what model calls cost, what for, and how much of the limits is left."""

from __future__ import annotations

from bot.app import App
from bot.features.usage import UsageRequest, answer_usage
from bot.platform.slack.requests import Audience, SlackRequest
from handlers.declaration import RequestWord, SubCommand


def enqueue_usage(app: App, asker: SlackRequest, request: UsageRequest, audience: Audience) -> None:
    """Enqueue a report, for the asker alone unless it is shared."""
    own = Audience.SHARED if audience is Audience.SHARED else Audience.ASKER
    answer_usage.send_to(app.jobs, asker, request, own)


SUB_COMMAND = SubCommand(
    requests=(
        RequestWord(
            "what the model cost, and what is left",
            "usage [MONTH]",
            ("usage", "usage 2026-10"),
            "Without a month: today and this month. Only you see the answer.",
            word=UsageRequest.kind,
            request_types=(UsageRequest,),
            parse=lambda text, context: UsageRequest.parse(text, context.today().date),
            enqueue=enqueue_usage,
        ),
    ),
    place=70,
)
