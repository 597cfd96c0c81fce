"""``/prdigest mute`` and ``usefulness``, the menu "Less like …", and the button that shows what is muted."""

from __future__ import annotations

from bot.app import App
from bot.errors import UsageError
from bot.features.noise.rules import LESS, MUTED, FoldedMerges, LineFeature, parse_mutes
from bot.features.noise.service import (
    answer_usefulness,
    mute_for_asker,
    record_less,
    show_muted,
    show_mutes,
    unmute_for_asker,
)
from bot.platform.slack.blocks import remove_mark
from bot.platform.slack.requests import SlackRequest
from handlers.declaration import Payload, SubCommand, Verb, parse_action_time, read_value
from handlers.intake import on_click


def _enqueue_mute(app: App, asker: SlackRequest, text: str) -> None:
    if text:
        mute_for_asker.send_to(app.jobs, asker, parse_mutes(text, app.repositories, app.get_today()))
    else:
        show_mutes.send_to(app.jobs, asker)


def _enqueue_unmute(app: App, asker: SlackRequest, text: str) -> None:
    if not text:
        raise UsageError("What? Add a repository, area:… or author:…, or all.")
    mutes = () if text.lower() == "all" else parse_mutes(text, app.repositories, app.get_today())
    unmute_for_asker.send_to(app.jobs, asker, mutes)


def _enqueue_usefulness(app: App, asker: SlackRequest, text: str) -> None:
    if text:
        raise UsageError("It takes nothing: it is about the last 30 days.")
    answer_usefulness.send_to(app.jobs, asker)


@on_click(LESS)
def _enqueue_less(app: App, asker: SlackRequest, click: Payload) -> None:
    feature = LineFeature.parse(remove_mark(read_value(click)))
    record_less.send_to(app.jobs, asker, str(feature), parse_action_time(click))


@on_click(MUTED)
def _enqueue_muted(app: App, asker: SlackRequest, click: Payload) -> None:
    show_muted.send_to(app.jobs, asker, FoldedMerges.parse(read_value(click), app.repositories))


SUB_COMMAND = SubCommand(
    verbs={
        "mute": Verb(
            "fold an area or an author for you",
            "mute [owner/repo] [area:…] [author:…] [until DAY]",
            ("mute area:LoRA until monday", "mute author:bots"),
            "It holds where you read alone: in your direct messages, previews, and answers with `private`. Posts "
            "in a channel stay as they are. Without a day: 90 days. `mute` alone lists what you mute.",
            enqueue=_enqueue_mute,
        ),
        "unmute": Verb(
            "end what you mute",
            "unmute owner/repo | area:… | author:… | all",
            ("unmute area:LoRA", "unmute all"),
            enqueue=_enqueue_unmute,
            is_listed=False,
        ),
        "usefulness": Verb(
            "what others opened, asked about, marked and muted",
            "usefulness",
            ("usefulness",),
            "Rough counts of the last 30 days, without names. Only you see the answer.",
            enqueue=_enqueue_usefulness,
            is_listed=False,
        ),
    },
    place=60,
)
