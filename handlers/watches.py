"""``/prdigest where`` and ``watch``: where a merge is by now, and to be told when that changes."""

from __future__ import annotations

from bot.app import App
from bot.errors import UsageError
from bot.features.watches.service import MAX_WATCHES, WATCH_PERIOD, begin_watch, end_watches, list_watches
from bot.features.watches.whereabouts import WhereRequest, answer_where, parse_one
from bot.platform.commands import split_words
from bot.platform.slack.blocks import WATCH, read_reference
from bot.platform.slack.requests import SlackRequest
from handlers.declaration import Payload, RequestWord, SubCommand, Verb, make_enqueuer, read_value
from handlers.intake import on_click


def _enqueue_watch(app: App, asker: SlackRequest, text: str) -> None:
    if not text:
        list_watches.send_to(app.jobs, asker)
        return
    begin_watch.send_to(app.jobs, asker, parse_one("watch", split_words(text), app.repositories))


def _enqueue_end(app: App, asker: SlackRequest, text: str) -> None:
    if not text:
        raise UsageError("Which one? Add its number, or all.")
    one = None if text.lower() == "all" else parse_one("unwatch", split_words(text), app.repositories)
    end_watches.send_to(app.jobs, asker, one)


@on_click(WATCH)
def _enqueue_clicked(app: App, asker: SlackRequest, click: Payload) -> None:
    begin_watch.send_to(app.jobs, asker, read_reference(read_value(click), app.repositories))


SUB_COMMAND = SubCommand(
    requests=(
        RequestWord(
            "which tags and pins hold a merge",
            "where NUMBER [private]",
            ("where 35617", "where 35617 private"),
            "It finds copies on branches of releases, too, by the commit, number or title that they name.",
            word=WhereRequest.kind,
            request_types=(WhereRequest,),
            parse=lambda text, context: WhereRequest.parse(text, context.repositories),
            enqueue=make_enqueuer(answer_where),
        ),
    ),
    verbs={
        "watch": Verb(
            "a message when a merge is reverted, repaired or released",
            "watch [NUMBER]",
            ("watch 35617", "watch"),
            f"Without a number: what you watch. Up to {MAX_WATCHES}, for {WATCH_PERIOD.days} days.",
            enqueue=_enqueue_watch,
        ),
        "unwatch": Verb(
            "end what you watch",
            "unwatch NUMBER | all",
            ("unwatch 35617", "unwatch all"),
            enqueue=_enqueue_end,
            is_listed=False,
        ),
    },
    place=20,
)
