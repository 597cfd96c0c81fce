import copy
import json
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person

from tests.attacks.tables.altered_values import VALUES
from tests.helpers.worlds import WebPage
from tests.scenarios import Bot, old_button
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.subscriptions.regularly import form_of, subscriptions

pytestmark = pytest.mark.slow

_triggers = count(1)


@pytest.fixture
def bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_bot(bots.bot("http"))


def count_calls(bot: Bot) -> tuple[int, int]:
    return bot.calls()


def dump_records(bot: Bot) -> list[tuple[bytes, bytes | None]]:
    names = ("subscriptions", "votes", "decisions", "attention")
    keys = sorted(key for name in names for key in bot.store.scan_iter(f"{name}*"))
    return [(key, bot.store.dump(key)) for key in keys]


@pytest.mark.parametrize("name", VALUES)
def test_an_altered_value_gets_one_refusal_and_does_nothing(name: str, bot: Bot) -> None:
    action, value = VALUES[name]
    ada, channel = bot.person(), bot.channel()
    before, calls = dump_records(bot), count_calls(bot)
    ack = ada.press(old_button(action, value), action, channel=channel).ack
    assert (ack.status, ack.text) == (200, "")
    (whisper,) = bot.list_whispers(ada)
    assert 20 < len(whisper["text"]) < 700
    assert "[" not in whisper["text"], "no reference: the bot knows what is wrong"
    assert (bot.list_posts(channel), bot.windows("octo/engine"), count_calls(bot), dump_records(bot)) == (
        [],
        [],
        calls,
        before,
    )


# what a form is sent with

Alter = Callable[[Bot, Json], None]


def _remember(**fields: object) -> Alter:
    def alter(_: Bot, view: Json) -> None:
        view["private_metadata"] = json.dumps({**json.loads(view["private_metadata"]), **fields})

    return alter


def _fill(block: str, **fields: object) -> Alter:
    def alter(_: Bot, view: Json) -> None:
        view["state"]["values"][block] = {block: fields}

    return alter


def _hide(_: Bot, view: Json) -> None:
    view["state"]["values"] = {}


FORMS: dict[str, Alter] = {
    "a channel that nobody knows": _fill("channel", selected_conversation="C0NOBODY"),
    "a channel that is a path": _fill("channel", selected_conversation="../C0OTHERS"),
    "a repository elsewhere": _fill("repository", selected_option={"value": "octo/vault"}),
    "a repository that is a path": _fill("repository", selected_option={"value": "../../octo/vault"}),
    "an option as a repository": _fill("repository", selected_option={"value": "--upload-pack=touch /tmp/x"}),
    "a zone that is a path": _fill("zone", selected_option={"value": "../../../etc/passwd"}),
    "no such time": _fill("at", selected_time="25:99"),
    "a long filter": _fill("filter", value="path:" + "a/" * 3_000),
    "a filter that is an option": _fill("filter", value="repo:octo/vault"),
    "a later version": _remember(version=99),
    "an id that is no text": _remember(id={"a": 1}),
    "the id of nothing": _remember(id="0123456789"),
    "nothing filled in": _hide,
}


def send_altered(bot: Bot, person: Person, channel: str, alter: Alter) -> Json:
    """The form of somebody, altered, as their client would send it; the answer to it."""
    person.send_command("/prdigest", "schedule", channel)
    payload = person.submit(form_of(bot, person), channel=channel).payload
    bot.settle()
    forged = {**copy.deepcopy(payload), "trigger_id": f"altered.{next(_triggers)}"}
    alter(bot, forged["view"])
    ack = person._deliver_payload("interactive", forged).ack
    return {"status": ack.status, "body": ack.body}


@pytest.mark.parametrize("name", FORMS)
def test_an_altered_form_changes_nothing(name: str, bot: Bot) -> None:
    ada, channel = bot.person(), bot.channel()
    answer = send_altered(bot, ada, channel, FORMS[name])
    assert answer["status"] in (200, 400)
    (only,) = subscriptions(bot, channel)
    assert (str(only.repository), only.by) == ("octo/engine", ada.user)
    assert bot.list_posts(channel) == []
    # the first is about the form as it was, before it was altered
    is_refused = answer["status"] == 400 or answer["body"] or len(bot.list_whispers(ada)) == 2
    assert is_refused, bot.list_whispers(ada)


def test_a_form_answers_nobody_but_slack(bot: Bot) -> None:
    with WebPage() as elsewhere:
        address = elsewhere.url.replace("127.0.0.1", "localhost")
        ada, channel = bot.person(), bot.channel()
        send_altered(bot, ada, channel, _remember(answer=f"{address}/response/R1"))
        bot.settle()
        assert elsewhere.asked == []


def test_a_form_in_the_name_of_somebody_else_is_judged_by_who_sends_it(bot: Bot) -> None:
    """The view names a channel of others and a subscription of theirs: they have neither."""
    ada, eve = bot.person(), bot.person()
    private = bot.channel(people={ada.user}, private=True)
    ada.send_command("/prdigest", "schedule", private)
    ada.submit(form_of(bot, ada), channel=private)
    (made,) = subscriptions(bot, private)
    own = bot.channel()

    def alter(_: Bot, view: Json) -> None:
        _fill("channel", selected_conversation=private)(bot, view)
        _remember(id=made.id, channel=private)(bot, view)

    send_altered(bot, eve, own, alter)
    assert subscriptions(bot, private) == [made]
    assert len(subscriptions(bot, own)) == 1
