from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count

import pytest
from localslack.users.person import Person

from bot.features.usage import WorkTotal, sum_days
from bot.platform.costs import WorkKind, find_next_month
from bot.platform.store.spending import BudgetHold, SpendingStore
from tests.emulators.github.store import pull
from tests.helpers.checks import eventually
from tests.scenarios import REPO, Bot
from tests.scenarios.conftest import Bots, guard_bot
from tests.scenarios.conversations.asking import Thread, answer, answering, begin_thread, mention_bot, text_of

TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
DAILY = 0.5
MONTHLY = 5.0
LIMIT = 3
TOO_FAST = "Too many requests: wait a minute, then ask again."
_seats = count(1)


@pytest.fixture(scope="module", autouse=True)
def _end_frugal(bots: Bots) -> Iterator[None]:
    yield
    bots.end("frugal")


@pytest.fixture
def frugal(bots: Bots) -> Iterator[Bot]:
    """A bot of which nobody gets a second answer by the model, and which answers only some."""
    settings = {
        "PRDIGEST_USER_BUDGET": "0.000001",
        "PRDIGEST_DAILY_BUDGET": str(DAILY),
        "PRDIGEST_MONTHLY_BUDGET": str(MONTHLY),
        "PRDIGEST_ALLOWED_USERS": ",".join(f"U0SEAT{seat}" for seat in range(1, 60)),
        "PRDIGEST_USER_LIMIT": str(LIMIT),
    }
    frugal_bot = bots.bot("http", "frugal", **settings)
    frugal_bot.world.github.add(REPO, pull(9_001, title="Count the frobnications", merged_at=frugal_bot.noon(1)))
    yield from guard_bot(frugal_bot)


def make_asker(bot: Bot) -> Person:
    """Somebody who may ask and did not yet."""
    return bot.person(user=f"U0SEAT{next(_seats)}")


@contextmanager
def asked_by(bot: Bot, person: Person) -> Iterator[Thread]:
    """A thread in which the person had one answer."""
    with answering(bot, answer("Yes.")):
        thread = begin_thread(bot, person.mention("Does it?", bot.channel()))
        assert [text_of(message) for message in thread.answers()] == ["Yes."]
        yield thread


def is_plain(text: str, reason: str) -> bool:
    return text.startswith(f"**Without the model.** {reason}") and "[#9001](https://github.com/" in text


def test_who_used_up_their_budget_gets_plain_results_and_others_answers(frugal: Bot) -> None:
    ada, ben = make_asker(frugal), make_asker(frugal)
    with asked_by(frugal, ada) as thread:
        ada.send_message("And the frobnications?", thread.channel, thread.ts)
        reply = thread.answers()[-1]
        assert is_plain(text_of(reply), "You have used up your budget for today; it resets at midnight")
        ben.send_message("And the frobnications?", thread.channel, thread.ts)
        assert [text_of(message) for message in thread.answers()][2:] == ["Yes."]
    assert not frugal.list_whispers(ada)


def test_when_the_budget_of_all_is_used_up_everybody_gets_plain_results(frugal: Bot) -> None:
    ada, day = make_asker(frugal), str(frugal.noon(0).date())
    spending = SpendingStore(frugal.store)
    before = spending.get_spending(day)
    spending.settle_hold(BudgetHold("all at once", 0.0, (day,)), DAILY)
    with answering(frugal, answer("Yes.")) as asked:
        thread = begin_thread(frugal, ada.mention("And the frobnications?", frugal.channel()))
        (reply,) = thread.answers()
    spending.settle_hold(BudgetHold("back again", 0.0, (day,)), -DAILY)
    assert spending.get_spending(day) == before
    assert is_plain(text_of(reply), "Today's model budget is used up; it resets at midnight")
    assert not asked.bodies


def test_when_the_budget_of_the_month_is_used_up_it_says_until_when(frugal: Bot) -> None:
    ada, month = make_asker(frugal), f"{frugal.noon(0):%Y-%m}"
    spending = SpendingStore(frugal.store)
    spending.settle_hold(BudgetHold("a month at once", 0.0, (month,)), MONTHLY)
    with answering(frugal, answer("Yes.")) as asked:
        thread = begin_thread(frugal, ada.mention("And the frobnications?", frugal.channel()))
        (reply,) = thread.answers()
    spending.settle_hold(BudgetHold("the month back", 0.0, (month,)), -MONTHLY)
    first = find_next_month(frugal.noon(0).date())
    assert is_plain(text_of(reply), f"This month's model budget is used up; it resets on {first}")
    assert not asked.bodies


def test_an_answer_is_in_the_ledger_with_its_tokens(frugal: Bot) -> None:
    def read() -> WorkTotal:
        dates = [frugal.noon(0).date() - timedelta(days=1), frugal.noon(0).date()]
        return sum_days(SpendingStore(frugal.store).read_ledger(dates)).work.get(WorkKind.ANSWER, WorkTotal())

    before, usages = read(), frugal.world.claude.usages
    heard = len(usages)
    with asked_by(frugal, make_asker(frugal)):
        eventually(lambda: read().count > before.count)
    tokens = sum(sum(each[name] for name in TOKENS) for each in usages[heard:])
    after = read()
    assert (after.count - before.count, after.tokens - before.tokens) == (1, tokens)
    assert tokens > 0


def test_who_asks_too_often_is_told_to_wait_and_nobody_else(frugal: Bot) -> None:
    ada, ben = make_asker(frugal), make_asker(frugal)
    with asked_by(frugal, ada) as thread:
        for _ in range(LIMIT):
            ada.send_message("And the frobnications?", thread.channel, thread.ts)
        assert len(thread.answers()) == LIMIT
        assert [shown["text"] for shown in frugal.list_whispers(ada)] == [TOO_FAST]
        ben.send_message("And the frobnications?", thread.channel, thread.ts)
        assert len(thread.answers()) == LIMIT + 1
    assert not frugal.list_whispers(ben)


def test_who_may_not_ask_is_told_so_only_where_they_name_the_bot(frugal: Bot) -> None:
    eve = frugal.person()
    with asked_by(frugal, make_asker(frugal)) as thread:
        before = frugal.calls()
        eve.send_message("And the frobnications?", thread.channel, thread.ts)
        assert not frugal.list_whispers(eve)
        eve.send_message("quiet", thread.channel, thread.ts)
        assert not frugal.list_whispers(eve)
        eve.send_message(mention_bot("And the frobnications?"), thread.channel, thread.ts)
        assert not frugal.list_whispers(eve)
        eve.mention("And the frobnications?", thread.channel, thread.ts)
        (shown,) = frugal.list_whispers(eve)
        assert len(thread.replies()) == 1
        assert frugal.calls() == before
    assert shown["text"] == "I'm not allowed to answer you: ask the bot's admin."


def test_people_of_another_workspace_are_left_alone_where_they_do_not_name_the_bot(frugal: Bot) -> None:
    stranger = frugal.person(team="T0OTHER")
    with asked_by(frugal, make_asker(frugal)) as thread:
        stranger.send_message("And the frobnications?", thread.channel, thread.ts)
        assert len(thread.replies()) == 1
    assert not frugal.list_whispers(stranger)
