"""The table of permissions, driven through the handlers of a process: each action by each way there is to it."""

import copy
import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person

from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.slack.blocks import write_id
from bot.platform.slack.client import make_slack_client
from bot.platform.store.due_queue import DueQueue, NextDigest
from impact.repository import Repository
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import as_read
from tests.hostile.tables.permissions import ACTORS, ALLOWED, Action, Actor, Kind
from tests.scenarios import REPO, Bot, old_button
from tests.scenarios.conftest import APART
from tests.scenarios.subscriptions.regularly import direct, form_of, home, subscriptions

pytestmark = pytest.mark.slow

MAKER = "U0MAKER"
_triggers = count(1)
_VERBS = {Action.PAUSE: "pause", Action.RESUME: "resume", Action.REMOVE: "unsubscribe"}
_BUTTONS = {Action.PAUSE: "subscription_pause", Action.RESUME: "subscription_resume"}
_BUTTONS |= {Action.REMOVE: "subscription_remove"}


@dataclass
class Stage:
    """A subscription of a channel, and somebody who tries something from a channel of their own."""

    bot: Bot
    actor: Actor
    kind: Kind
    person: Person
    target: str
    side: str
    made: Subscription

    def reset(self, *, is_paused: bool) -> None:
        """The subscription as it was made, and no other: App Home shows the first of many."""
        kept = StoredSubscriptions(self.bot.store)
        for each in kept.list_all():
            kept.remove(each.id)
        self.made = replace(self.made, is_paused=is_paused)
        kept.put(self.made)
        DueQueue(self.bot.store).put(NextDigest(self.made.id), dt.datetime.now(dt.UTC) + dt.timedelta(days=1))

    def list_subscriptions(self) -> list[Subscription]:
        return subscriptions(self.bot, self.target)

    def read(self) -> str:
        shown = [each for each in self.bot.list_whispers(self.person) if each.get("blocks")]
        slack = self.bot.world.slack
        shown += self.bot.list_posts(direct(self.person)) if slack.has_direct(self.person.user) else []
        texts = [f"{as_read(each)}\n{json.dumps(each['blocks'])}" for each in shown]
        return "\n".join([*texts, home(self.bot, self.person)])

    def posts(self) -> list[str]:
        return [as_read(message) for message in self.bot.list_posts(self.target)]

    def forge_request(self, payload: Json) -> Json:
        """The same as a new request."""
        return {**copy.deepcopy(payload), "trigger_id": f"forged.{next(_triggers)}"}


def stage(bot: Bot, name: str, kind: Kind) -> Stage:
    actor, slack = ACTORS[name], bot.world.slack
    person = bot.person(team=actor.team)
    slack.set_person(
        person.user,
        restricted=actor.restricted,
        ultra_restricted=actor.ultra_restricted,
        admin=actor.admin,
        team=actor.team or "",
    )
    maker = person.user if actor.is_maker else MAKER
    slack.set_person(maker)
    people = {person.user} if actor.is_in else {MAKER}
    side = bot.channel(people={person.user}, shared=bool(actor.team))
    if kind is Kind.DIRECT:
        target = f"D{maker[1:]}"
        slack.get_channel(target)
    else:
        target = bot.channel(people=people, private=kind is Kind.PRIVATE, shared=bool(actor.team))
    timing = Timing(dt.time(6), bot.zone)
    made = Subscription(target, Repository.parse(REPO), timing, by=maker, is_open=kind is Kind.PUBLIC)
    return Stage(bot, actor, kind, person, target, side, made)


# --- ways


def by_command(there: Stage, action: Action) -> None:
    there.person.send_command("/prdigest", f"{_VERBS[action]} {there.made.id}", there.side)


def by_command_in_it(there: Stage, action: Action) -> None:
    sent = there.person.send_command("/prdigest", "help", there.side).payload
    forged = there.forge_request(sent) | {"channel_id": there.target, "text": f"{_VERBS[action]} all"}
    there.person._deliver_payload("slash_commands", forged)


def by_mention(there: Stage, action: Action) -> None:
    there.person.mention(f"{_VERBS[action]} {there.made.id}", there.side)


def by_old_button(there: Stage, action: Action) -> None:
    button = _BUTTONS[action]
    there.person.press(old_button(button, write_id(there.made.id)), button, channel=there.side)


def by_home(there: Stage, action: Action) -> None:
    slack, blocks = there.bot.world.slack, old_button(_BUTTONS[action], write_id(there.made.id))["blocks"]
    client = make_slack_client(slack.token, slack.url)
    client.views_publish(user_id=there.person.user, view={"type": "home", "blocks": blocks})
    view = slack.get_home(there.person.user)
    assert view
    there.person.press_in(view, _BUTTONS[action])


WAYS: dict[str, Callable[[Stage, Action], None]] = {
    "command": by_command,
    "command in it": by_command_in_it,
    "mention": by_mention,
    "old button": by_old_button,
    "home": by_home,
}


def sent_form(there: Stage, replaces: str, at: str) -> None:
    """The form, with the channel, the time and what it remembers as nobody's client would send them."""
    there.person.send_command("/prdigest", "schedule", there.side)
    sent = there.person.submit(form_of(there.bot, there.person), channel=there.side).payload
    there.bot.settle()
    forged = there.forge_request(sent)
    values = forged["view"]["state"]["values"]
    values["channel"]["channel"]["selected_conversation"] = there.target
    values["at"]["at"]["selected_time"] = at
    values["filter"]["filter"]["value"] = "" if replaces else "label:rocm"
    known = json.loads(forged["view"]["private_metadata"])
    forged["view"]["private_metadata"] = json.dumps({**known, "channel": there.target, "id": replaces})
    there.person._deliver_payload("interactive", forged)


# --- what came of it


def is_turned(there: Stage, action: Action) -> bool:
    kept = there.list_subscriptions()
    expected_subscriptions = (
        [] if action is Action.REMOVE else [replace(there.made, is_paused=action is Action.PAUSE)]
    )
    is_done, posts = kept == expected_subscriptions, there.posts()
    assert is_done or kept == [there.made], kept
    how = {Action.PAUSE: "paused", Action.RESUME: "resumed", Action.REMOVE: "removed"}[action]
    told = [line for line in posts if line.startswith(f"@{there.person.user} {how} the digest of {REPO}, ")]
    assert len(told) == len(posts) == is_done, posts
    return is_done


def ways_to(there: Stage, action: Action) -> list[str]:
    """Each way to pause, and to all where the actor may do some only; else one, another for each actor."""
    if action is Action.PAUSE or ALLOWED[there.kind][_name(there.actor)] not in (frozenset(), frozenset(Action)):
        return list(WAYS)
    turn = list(ACTORS).index(_name(there.actor)) + list(_VERBS).index(action)
    return [list(WAYS)[turn % len(WAYS)]]


def try_turn(there: Stage, action: Action) -> set[bool]:
    """Each way, on a channel of its own; whether it was done by them."""
    done = set()
    for name in ways_to(there, action):
        way = WAYS[name]
        if name == "command in it" and there.actor.admin and there.kind is Kind.PRIVATE:
            # they know of it by its id alone
            continue
        fresh = stage(there.bot, _name(there.actor), there.kind)
        fresh.reset(is_paused=action is Action.RESUME)
        way(fresh, action)
        fresh.bot.settle()
        done.add(is_turned(fresh, action))
        if not is_turned(fresh, action) and there.kind is not Kind.PUBLIC:
            assert fresh.made.id not in fresh.read(), name
    return done


def _name(actor: Actor) -> str:
    return next(name for name, each in ACTORS.items() if each is actor)


def try_see(there: Stage, action: Action) -> set[bool]:
    there.reset(is_paused=False)
    there.person.open_home()
    there.bot.settle()
    # its id is in the buttons only
    is_home = there.made.id in json.dumps(there.bot.world.slack.get_home(there.person.user))
    sent = there.person.send_command("/prdigest", "help", there.side).payload
    before = len(there.bot.list_whispers(there.person))
    there.person._deliver_payload(
        "slash_commands", there.forge_request(sent) | {"channel_id": there.target, "text": "list"}
    )
    shown = there.bot.list_whispers(there.person)[before:]
    return {is_home, any(there.made.id in json.dumps(each["blocks"]) for each in shown if each.get("blocks"))}


def try_preview(there: Stage, action: Action) -> set[bool]:
    there.reset(is_paused=False)
    there.person.send_command("/prdigest", f"test {there.made.id}", there.side)
    shown = [as_read(each) for each in there.bot.list_whispers(there.person) if each.get("blocks")]
    return {any("Preview, visible only to you" in text for text in shown)}


def try_form(there: Stage, action: Action) -> set[bool]:
    there.reset(is_paused=False)
    is_change = action is Action.CHANGE
    if there.actor.team == "T0OTHER":
        # they get no form to begin with
        there.person.send_command("/prdigest", "schedule", there.side)
        there.bot.settle()
        assert there.bot.world.slack.get_modal(there.person.user) is None
        return {False}
    sent_form(there, there.made.id if is_change else "", "05:00")
    there.bot.settle()
    kept_subscriptions = there.list_subscriptions()
    makers = {each.by for each in kept_subscriptions}
    assert there.made.by in makers, "the maker stays"
    if is_change:
        assert len(kept_subscriptions) == 1
        return {kept_subscriptions[0].timing.at == dt.time(5)}
    assert makers == ({there.made.by} if len(kept_subscriptions) == 1 else {there.made.by, there.person.user})
    return {len(kept_subscriptions) == 2}


def try_digest(there: Stage, action: Action) -> set[bool]:
    sent = there.person.send_command("/prdigest", "help", there.side).payload
    text = f"{dt.datetime.now(there.bot.zone).date() - dt.timedelta(days=1)}"
    forged = there.forge_request(sent) | {"channel_id": there.target, "text": text}
    before = len(there.posts())
    there.person._deliver_payload("slash_commands", forged)
    return {len(there.posts()) > before}


TRIES: dict[Action, Callable[[Stage, Action], set[bool]]] = {
    Action.SEE: try_see,
    Action.PREVIEW: try_preview,
    Action.SUBSCRIBE: try_form,
    Action.CHANGE: try_form,
    Action.PAUSE: try_turn,
    Action.RESUME: try_turn,
    Action.REMOVE: try_turn,
    Action.DIGEST: try_digest,
}
# what is somebody's own asks for no more than who that is: a member of the channel, and those who may do most
NOT_THEIRS = {
    "member",
    "admin",
    "multi-channel guest of it",
    "other workspace, in it",
    "other workspace, allowed, in it",
}
# to the bot a guest of several channels is as much a guest as one of a single channel: both in public channels
SEVERAL = {"multi-channel guest of it", "multi-channel guest of others"}
CASES = [
    ("http", kind, name)
    for kind, rows in ALLOWED.items()
    for name in rows
    if not (kind is Kind.DIRECT and name not in NOT_THEIRS) and not (kind is Kind.PRIVATE and name in SEVERAL)
]
# who may do what is decided by the same code on the same store in every process: who may do all, and who some
CASES += [(APART, Kind.PUBLIC, "maker"), (APART, Kind.PRIVATE, "admin")]


@pytest.mark.parametrize(
    ("layout", "kind", "name"),
    CASES,
    ids=[f"{kind}-{name}-{layout}" for layout, kind, name in CASES],
    indirect=["layout"],
)
def test_each_may_do_what_the_table_says_by_every_way(partner_bot: Bot, kind: Kind, name: str) -> None:
    done = {action: TRIES[action](stage(partner_bot, name, kind), action) for action in Action}
    allowed = ALLOWED[kind][name]
    assert done == {action: {action in allowed} for action in Action}
