"""What the scenarios of regular digests have in common: what people read, press and fill in."""

import json
from typing import Any

from localslack.state.workspace import Json
from localslack.users.person import Person

from bot.features.subscriptions.rules import Subscription
from bot.platform.store.due_queue import DueQueue, NextDigest
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import as_read
from tests.scenarios import Bot


def subscriptions(bot: Bot, channel: str) -> list[Subscription]:
    """Those of a channel that are kept, once nothing is left to do."""
    bot.settle()
    channel_subscriptions = [each for each in StoredSubscriptions(bot.store).list_all() if each.channel == channel]
    return sorted(channel_subscriptions, key=str)


def is_planned(bot: Bot, subscription: Subscription) -> bool:
    return DueQueue(bot.store).get_time(NextDigest(subscription.id)) is not None


def direct(person: Person) -> str:
    return f"D{person.user[1:]}"


def last(bot: Bot, person: Person) -> Json:
    """What they alone read last: shown to them, or written to them directly."""
    shown = bot.list_whispers(person)
    written = bot.list_posts(direct(person)) if bot.world.slack.has_direct(person.user) else []
    return max([*shown, *written], key=lambda message: float(message["ts"]))


def type_command(bot: Bot, person: Person, text: str, channel: str) -> Json:
    """What somebody gets for ``/prdigest …``: later, and nothing at once."""
    before = len(bot.list_whispers(person))
    ack = person.send_command("/prdigest", text, channel).ack
    assert (ack.status, ack.text) == (200, "")
    (shown,) = bot.list_whispers(person)[before:]
    return shown


def form_of(bot: Bot, person: Person) -> Json:
    bot.settle()
    view = bot.world.slack.get_modal(person.user)
    assert view, [shown["text"] for shown in bot.list_whispers(person)]
    return view


def home(bot: Bot, person: Person) -> str:
    bot.settle()
    view = bot.world.slack.get_home(person.user)
    return as_read({"text": "", "blocks": view["blocks"]}) if view else ""


def value(view: Json, name: str) -> Any:
    (element,) = [block["element"] for block in view["blocks"] if block["block_id"] == name]
    first = next((element[key] for key in element if key.startswith("initial_")), None)
    return first["value"] if isinstance(first, dict) else first


def read_replaced_id(view: Json) -> str:
    return str(json.loads(view["private_metadata"]).get("id", ""))
