"""One person has the model called as often as they can: theirs ends, and nobody else's does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest
from redis import Redis

from bot.dates import parse_exact_span, parse_zone
from bot.features.digest.service import answer_overview
from bot.features.merges.requests import DigestRequest
from bot.features.risks.service import list_risks
from bot.features.summaries.service import answer_summaries
from bot.jobs.queues import DramatiqJobQueue
from bot.platform.jobs import Job
from bot.platform.models.claude import CLAUDE
from bot.platform.slack.requests import Audience, SlackRequest
from bot.usage import CallPurpose, Usage
from handlers.digest import answer_digest
from impact.repository import Repository
from tests.emulators.github.store import changed_file, pull
from tests.features.digest.posting import HOME
from tests.features.subscriptions.wired import Bot, make_bot  # noqa: F401 (a fixture)
from tests.helpers.builders import NOON
from tests.helpers.checks import eventually, waiting_jobs
from tests.helpers.doubles import slack_request
from tests.helpers.processes.jobs import enqueue, working
from tests.helpers.worlds import REPO
from tests.hostile.tables.budgets import MANY, SPREES
from tests.platform.slack.accepted import strings

pytestmark = pytest.mark.slow

# dollars; each of the summaries takes about a sixth of a cent
OWN = 0.1
SUMMARY = "A small change to one part"
FACTS = "No model summary: the person who asked has used up their budget for today."


def patch(words: int) -> str:
    """Sixty lines, a size at which nobody takes it for a small one, each with so many words."""
    return "@@ -1,1 +1,61 @@\n one\n" + "\n".join(f"+line {number} is " + "new " * words for number in range(60))


@dataclass
class Desk:
    """Where commands go: the bot's own jobs, with its workers."""

    bot: Bot
    store: Redis
    jobs: DramatiqJobQueue
    asked: int = 0

    def take(self, user: str, command: str, text: str, channel: str = HOME) -> None:
        self.asked += 1
        own = slack_request(f"command:{self.asked}", user=user, channel=channel, name=user.lower())
        self.send(own, command, text)

    def take_all(self, user: str, commands: Sequence[tuple[str, str]]) -> list[str]:
        """Commands of somebody, each in a channel of its own, as one takes one post a second; the channels."""
        channels = [f"C0SPREE{number}" for number, _ in enumerate(commands)]
        for channel, (command, text) in zip(channels, commands, strict=True):
            self.bot.slack.add_channel(channel, channel.lower())
            self.take(user, command, text, channel)
        return channels

    def send(self, own: SlackRequest, command: str, text: str) -> None:
        kinds: dict[str, Job[...]] = {"/prsummary": answer_summaries, "/prrisks": list_risks}
        if (command, text) == ("/prdigest", "yesterday"):
            span = parse_exact_span("2026-02-28", parse_zone("America/Los_Angeles"))
            day = DigestRequest(Repository.parse(REPO), span)
            answer_digest.send_to(self.jobs, own, day)
            return
        if command == "/prdigest":
            request = DigestRequest.parse(text, self.bot.services.repositories, self.bot.services.get_today())
            answer_overview.send_to(self.jobs, own, request, Audience.CHANNEL)
            return
        enqueue(self.jobs, self.bot.services, kinds[command], own, text)

    def settle(self) -> None:
        eventually(lambda: not waiting_jobs(self.store), 120)

    def list_whispers(self, user: str) -> list[str]:
        """What somebody alone was told, less what was for them to read in the channel."""
        return [str(shown["text"]) for shown in self.bot.slack.ephemerals if shown["user"] == user]

    def texts(self, channel: str = HOME) -> list[str]:
        return ["".join(strings(message.get("blocks", []))) for message in self.bot.slack.list_messages(channel)]


@contextmanager
def desk(bot: Bot, store: Redis) -> Iterator[Desk]:
    jobs = DramatiqJobQueue(store, bot.base.keyspace, bot.services)
    with closing(jobs), working(jobs.make_workers(8)):
        yield Desk(bot, store, jobs)


def fill(bot: Bot, count: int, first: int = 1_001, words: int = 10) -> list[int]:
    """So many pull requests of the day before yesterday; a summary costs by their words."""
    numbers = list(range(first, first + count))
    merged = NOON - timedelta(days=1)
    for number in numbers:
        files = (changed_file(f"engine/{number}.py", additions=60, patch=patch(words)),)
        bot.github.add(REPO, pull(number, merged_at=merged, additions=60, files=files))
    return numbers


def compute_cost(bot: Bot) -> float:
    """What Claude charged, by what it reported itself."""
    used = [Usage(each["input_tokens"], each["output_tokens"]) for each in bot.claude.usages]
    return sum(CLAUDE.prices.cautious_cost("claude-haiku-5-5", each) for each in used)


@pytest.mark.parametrize("kind", ["summaries by fives"])
def test_one_person_spends_what_is_theirs_and_is_told_once(
    bot: Callable[..., Bot], store: Redis, kind: str
) -> None:
    made = bot(PRDIGEST_USER_BUDGET=str(OWN), PRDIGEST_USER_CALLS="1000", PRDIGEST_USER_LIMIT="1000")
    numbers = fill(made, MANY, words=200)
    with desk(made, store) as there:
        channels = there.take_all("U0EVE", SPREES[kind](numbers))
        there.settle()
        texts = [text for channel in channels for text in there.texts(channel)]
        calls, dollars = len(made.claude.requests), compute_cost(made)
        # eight summaries, or as many times five, may have been in flight
        assert 20 < calls < MANY
        assert dollars < OWN + 40 * 0.002
        assert len(texts) == MANY
        assert sum(FACTS in text for text in texts) == MANY - calls
        (notice,) = there.list_whispers("U0EVE")
        assert notice.startswith("You have used up your budget for today. New summaries contain")
        # what is there costs nothing
        known = next(n for n, text in zip(numbers, texts, strict=True) if FACTS not in text)
        there.take("U0EVE", "/prsummary", str(known))
        there.settle()
        assert (FACTS in there.texts()[-1], len(made.claude.requests)) == (False, calls)
        # and others have their own
        unread = fill(made, 1, 9_001, 200)
        there.take("U0BEN", "/prsummary", str(unread[0]))
        there.settle()
        assert (FACTS in there.texts()[-1], len(made.claude.requests)) == (False, calls + 1)
        assert there.list_whispers("U0BEN") == []
    made.turn(timedelta(0))
    assert ("facts only" in digest_of(made), SUMMARY in digest_of(made)) == (False, True)


def digest_of(bot: Bot) -> str:
    lead = bot.slack.list_messages(HOME)[-1]
    messages = [lead, *bot.slack.list_replies(HOME, lead["ts"])]
    return "\n".join("".join(strings(message.get("blocks", []))) for message in messages)


@pytest.mark.parametrize("kind", SPREES)
def test_one_person_has_so_many_calls_in_a_minute_at_most(
    bot: Callable[..., Bot], store: Redis, kind: str
) -> None:
    made = bot(PRDIGEST_USER_CALLS="30", PRDIGEST_USER_LIMIT="1000", PRDIGEST_WORKER_THREADS="8")
    numbers = fill(made, 40)
    with desk(made, store) as there:
        before = made.claude.requests
        there.take_all("U0EVE", SPREES[kind](numbers))
        if kind != "overviews":
            there.settle()
        else:
            # days have the time to wait for their turn, so they go on after the minute
            eventually(lambda: len(before) >= 30, 60)
        assert 0 < len(before) <= 30
        store.delete(*store.scan_iter("rate:calls:*"))


def test_the_morning_goes_out_with_facts_alone_when_all_is_spent_and_says_so(bot: Callable[..., Bot]) -> None:
    made = bot(PRDIGEST_DAILY_BUDGET="0")
    made.turn(timedelta(0))
    assert made.claude.requests == []
    assert "facts only because today's model budget is used up: #3, #2, #1" in made.thread
    assert "no overview because today's model budget is used up" in made.thread


@pytest.mark.parametrize(
    ("share", "without"), [(0.5, ""), (0.91, "no overview because today's model budget is nearly used up")]
)
def test_the_overview_is_given_up_before_what_is_said_of_each(
    bot: Callable[..., Bot], share: float, without: str
) -> None:
    made = bot(PRDIGEST_DAILY_BUDGET="10")
    made.wall.passes(timedelta(0))
    hold = made.services.budget.reserve_cost("", CallPurpose.USUAL, 0.0)
    made.services.budget.settle_cost(hold, 10 * share)
    made.turn(timedelta(0))
    assert (without in made.thread, SUMMARY in made.thread, "facts only" in made.thread) == (True, True, False)
    assert ("no overview" in made.thread) == bool(without)


def test_small_ones_are_given_up_next(bot: Callable[..., Bot]) -> None:
    made = bot(PRDIGEST_DAILY_BUDGET="10")
    made.github.add(
        REPO,
        pull(9, merged_at=NOON, additions=60, files=(changed_file("engine/9.py", additions=60, patch=patch(10)),)),
    )
    made.services.budget.settle_cost(made.services.budget.reserve_cost("", CallPurpose.USUAL, 0.0), 9.6)
    made.turn(timedelta(0))
    assert "facts only because today's model budget is nearly used up: #3, #2, #1" in made.thread
    assert len(made.claude.requests) == 1


def test_who_has_no_budget_left_does_not_spoil_the_morning_by_asking_early(
    bot: Callable[..., Bot], store: Redis
) -> None:
    made = bot(PRDIGEST_USER_BUDGET="0")
    with desk(made, store) as there:
        there.take("U0EVE", "/prdigest", "yesterday")
        there.settle()
    assert "the person who asked has used up their budget for today" in made.thread
    made.turn(timedelta(0))
    made.run(10)
    assert "facts only" not in made.thread
    assert SUMMARY in made.thread


def test_who_has_no_budget_left_has_nothing_mended_at_the_cost_of_others(
    bot: Callable[..., Bot], store: Redis
) -> None:
    made = bot(PRDIGEST_USER_BUDGET="0", PRDIGEST_CHANNEL="")
    with desk(made, store) as there:
        there.take("U0EVE", "/prdigest", "yesterday")
        there.settle()
    made.run(30)
    assert made.claude.requests == []
