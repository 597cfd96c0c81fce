"""Whatever becomes of a job, somebody hears of it: who asked, and operators; and others need not wait for it."""

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, cast

import pytest
from dramatiq import Message, MessageProxy, Retry, Worker
from redis import Redis

import handlers  # noqa: F401 (it declares jobs)
from bot.app import App, open_app, prepare_worker
from bot.features import import_features
from bot.features.merges.requests import SummaryRequest
from bot.features.questions.rules import Question
from bot.features.questions.service import QUESTIONS
from bot.features.subscriptions.incidents import IncidentKind
from bot.features.summaries.service import answer_summaries, show_details
from bot.jobs.queues import DramatiqJobQueue, JobTimeLimits, list_lost_jobs, send_private_notice
from bot.platform import deadlines
from bot.platform.deadlines import ShutdownSignal
from bot.platform.dramatiq.broker import (
    MAX_ATTEMPTS,
    AttemptCounter,
    AttemptLimitError,
    JobInterruption,
    TurnWait,
    make_broker,
)
from bot.platform.jobs import JOBS
from bot.platform.pulls.models import Reference
from bot.platform.slack.answers import ResponseTimes
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.connection import UNPREFIXED, connect_server
from bot.platform.store.keys import LEASE
from bot.platform.store.tables import Store
from bot.settings import load_settings
from impact.repository import Repository
from tests.helpers.checks import eventually, waiting_jobs
from tests.helpers.doubles import slack_request
from tests.helpers.processes.jobs import enqueue, working
from tests.helpers.world import CHANNEL, World, add_small_day, world
from tests.hostile.tables.waits import ahead

pytestmark = pytest.mark.slow
import_features()

ADMIN = "C0ADMIN"
SOON = 15.0
# long enough to be put off, short enough to be waited for by a test
QUICK, PAUSE = 6.0, 5
PROMISES = ResponseTimes(reply_reserve=2.0, apology_reserve=1.0)
OPERATORS_ONLY = {"deliver", "mend", "watch", "amend", "refresh_profile", "link_previews", "link_preview_check"}


@dataclass
class Team:
    world: World
    services: App
    jobs: DramatiqJobQueue
    store: Redis
    workers: tuple[Worker, ...]
    # how many whispers are those of earlier cases
    earlier_whispers: int = 0

    def make_request(self, key: str = "command:1.2.3") -> SlackRequest:
        return slack_request(key, response_url=self.world.slack.make_response_url(CHANNEL, "U0ASKER"))

    def question(self) -> str:
        thread = self.world.slack.add_message(CHANNEL, "hello there")
        asked = slack_request(f"mention:{CHANNEL}:{thread}", thread=thread, message=thread)
        place, question = f"{CHANNEL}:{thread}", Question(asked, "what is new?", thread)
        self.services.tables.enqueue(QUESTIONS, question, float(thread), place, least=0)
        return place

    def put_job(self, name: str, *arguments: Any, died: int = 0, **options: Any) -> None:
        """Put a job on its queue, as one that began so often without an end."""
        queue = next(each.queue_name for each in self.actors() if each.actor_name == name)
        message: Message[Any] = Message(queue, name, arguments, {}, options)
        if died:
            self.store.set(f"attempts:{message.message_id}", died)
        with closing(make_broker(self.store, _nobody_is_told)) as broker:
            broker.enqueue(message)

    def actors(self) -> list[Any]:
        return [actor for worker in self.workers for actor in worker.broker.actors.values()]

    @property
    def whispers(self) -> list[str]:
        return [whisper["text"] for whisper in self.world.slack.ephemerals[self.earlier_whispers :]]

    @property
    def troubles(self) -> list[str]:
        names = (str(item) for item, _ in self.services.due_queue.list_due(datetime(2100, 1, 1, tzinfo=UTC)))
        return [name for name in names if name.endswith(f"#{IncidentKind.LOST}")]


def _nobody_is_told(*_: object) -> None:
    raise AssertionError("this broker runs no jobs")


@contextmanager
def team_on(url: str, store: Redis) -> Iterator[Team]:
    with ExitStack() as stack:
        there, ending = stack.enter_context(world(url)), ShutdownSignal()
        add_small_day(there.github)
        there.slack.add_channel(ADMIN, "admins")
        own = {"PRDIGEST_REPO": "octo/engine", "PRDIGEST_ADMIN_CHANNEL": ADMIN}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**there.settings, **own}.items():
                patch.setenv(name, value)
            settings = load_settings()
        base = stack.enter_context(
            open_app(settings, lambda: datetime.now(UTC), deadlines.sleep, response_times=PROMISES)
        )
        base.sources.open_sources()
        services, times = prepare_worker(base), JobTimeLimits(quick=QUICK, long=QUICK)
        jobs = stack.enter_context(closing(DramatiqJobQueue(store, base.keyspace, services, ending, times)))
        workers = jobs.make_workers(1)
        stack.enter_context(working(workers))
        stack.callback(ending.trigger)
        yield Team(there, services, jobs, store, workers)


@pytest.fixture
def team(store: Redis, store_url: str) -> Iterator[Team]:
    with team_on(store_url, store) as made:
        yield made


@pytest.fixture(scope="module")
def lasting_team(store_url: str) -> Iterator[Team]:
    # in a database of its own: the workers of other tests take jobs from the first one
    url = f"{store_url}?db=1"
    with connect_server(url) as store, team_on(url, store) as made:
        yield made


@pytest.fixture
def idle_team(lasting_team: Team) -> Iterator[Team]:
    """A team that has done all its jobs, with an empty store: for a table of short cases."""
    lasting_team.store.flushdb()
    lasting_team.earlier_whispers = len(lasting_team.world.slack.ephemerals)
    yield lasting_team
    eventually(lambda: not waiting_jobs(lasting_team.store), SOON)


# "end" is what tells
ALL = tuple(sorted({each.name for each in JOBS} - {"end"}))


def make_payload(team: Team, name: str) -> dict[str, Any]:
    if name in OPERATORS_ONLY:
        return {"version": 2}
    if name == "questions":
        return {"version": 2, "place": team.question()}
    return {"version": 2, "asker": asdict(team.make_request())}


def test_the_list_of_jobs_is_whole(idle_team: Team) -> None:
    assert len(ALL) > 30
    assert {actor.actor_name for actor in idle_team.actors()} == {*ALL, "end"}


@pytest.mark.parametrize("name", ALL)
def test_a_job_that_began_three_times_and_never_ended_is_set_aside_and_told(idle_team: Team, name: str) -> None:
    idle_team.put_job(name, make_payload(idle_team, name), died=MAX_ATTEMPTS)
    eventually(
        lambda: bool(list_lost_jobs(Store(idle_team.store), datetime.now(UTC)) and idle_team.troubles), SOON
    )
    [aside] = list_lost_jobs(Store(idle_team.store), datetime.now(UTC))
    assert (aside.name, aside.user) == (name, "" if name in OPERATORS_ONLY else "U0ASKER")
    assert ["That request crashed three times" in whisper for whisper in idle_team.whispers] == [True] * (
        name not in OPERATORS_ONLY
    )
    assert len(idle_team.troubles) == 1


@pytest.mark.parametrize("name", ALL)
def test_the_last_try_of_a_job_tells(idle_team: Team, name: str) -> None:
    # nobody gives a job that much: it fails each time
    idle_team.put_job(name, make_payload(idle_team, name), *range(9), max_retries=1, min_backoff=1, max_backoff=2)
    eventually(lambda: bool(idle_team.troubles), SOON)
    assert ["without success: ask again" in whisper for whisper in idle_team.whispers] == [True] * (
        name not in OPERATORS_ONLY
    )
    assert len(idle_team.troubles) == 1
    assert not list_lost_jobs(Store(idle_team.store), datetime.now(UTC))


@pytest.mark.parametrize("more", [(), ("what nobody reads",)], ids=["unreadable", "too many"])
@pytest.mark.parametrize("name", ["summary", "questions", "mend"])
def test_whoever_asked_is_told_of_a_job_with_a_version_that_can_not_be_read(
    idle_team: Team, name: str, more: tuple[str, ...]
) -> None:
    typed = {**make_payload(idle_team, name), "request": "no request"}
    idle_team.put_job(name, typed, *more, died=MAX_ATTEMPTS if name == "questions" else 0, max_retries=0)
    eventually(lambda: bool(idle_team.troubles), SOON)
    assert len(idle_team.whispers) == (name != "mend")


def make_summary_payload(asker: SlackRequest, repository: str = "octo/engine") -> dict[str, Any]:
    request = SummaryRequest((Reference(Repository.parse(repository), 101),))
    return answer_summaries.encode({"asker": asker, "request": request, "audience": Audience.CHANNEL})


@pytest.mark.parametrize("name", ["summary", "details"])
def test_what_the_settings_no_longer_allow_is_told(idle_team: Team, name: str) -> None:
    asker, reference = idle_team.make_request(), Reference(Repository("other", "secret"), 1)
    details = show_details.encode({"asker": asker, "reference": reference})
    idle_team.put_job(name, details if name == "details" else make_summary_payload(asker, "other/secret"))
    eventually(lambda: bool(idle_team.whispers), SOON)
    assert idle_team.whispers == ["I'm not set up for other/secret: ask about octo/engine."]


def test_a_post_that_slack_never_takes_is_told_by_the_response_url_at_the_last_try(team: Team) -> None:
    team.world.slack.fail_next("chat.postMessage", status=500, times=100)
    payload = make_summary_payload(team.make_request())
    team.put_job("summary", payload, max_retries=2, min_backoff=1, max_backoff=2)
    eventually(lambda: bool(team.whispers), SOON)
    assert ["without success: ask again" in whisper for whisper in team.whispers] == [True]
    send_private_notice.send_to(team.jobs, team.make_request("another"), "Others are served.")
    eventually(lambda: "Others are served." in team.whispers, SOON)


def test_a_question_is_answered_whose_thread_is_still_locked_by_a_process_that_died(team: Team) -> None:
    """Its job came back before the lock had expired: nobody else would take it."""
    place = team.question()
    lease = LEASE.build_key(QUESTIONS.family.build_key(place))
    team.store.set(lease, "a process that died", px=2_000)
    team.put_job("questions", {"version": 2, "place": place})
    eventually(lambda: team.services.tables.get_first(QUESTIONS, place) is None, SOON)
    channel, thread = place.split(":")
    assert len(team.world.slack.list_replies(channel, thread)) == 1


def test_a_question_that_is_given_up_lets_the_next_one_come_up(team: Team) -> None:
    place = team.question()
    channel, thread = place.split(":")
    asked = slack_request("mention:second", thread=thread, message=thread)
    question = Question(asked, "and yesterday?", f"{float(thread) + 1:.6f}")
    team.services.tables.enqueue(QUESTIONS, question, float(thread) + 1, place, least=0)
    team.put_job("questions", {"version": 2, "place": place}, died=MAX_ATTEMPTS)
    eventually(lambda: team.services.tables.get_first(QUESTIONS, place) is None, SOON)
    assert ["That request crashed three times" in whisper for whisper in team.whispers] == [True]
    assert len(team.world.slack.list_replies(channel, thread)) == 1


def test_that_nobody_can_be_told_ends_in_the_log(team: Team, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "bot.jobs")
    team.put_job("end", "no job", max_retries=1, min_backoff=1, max_backoff=2)
    eventually(lambda: "nobody could be told" in caplog.text, SOON)
    assert not team.troubles


# --- pauses that services ask for


def test_slack_asks_for_twelve_minutes_and_the_worker_serves_others(team: Team) -> None:
    thread = team.world.slack.add_message(CHANNEL, "hello")
    team.world.slack.fail_next("chat.postMessage", retry_after=720)
    enqueue(
        team.jobs,
        team.services,
        answer_summaries,
        slack_request("mention:1", thread=thread, message=thread),
        "101",
    )
    eventually(lambda: bool(team.whispers), SOON)
    assert ["Slack limits my rate. I'll continue at" in whisper for whisper in team.whispers] == [True]
    enqueue(team.jobs, team.services, answer_summaries, team.make_request(), "102")
    eventually(lambda: bool(team.world.slack.list_messages(CHANNEL)[1:]), SOON)
    waiting = team.store.hvals("dramatiq:prdigest.DQ.msgs")
    assert len(waiting) == 1, "and the first one comes later"


@pytest.mark.parametrize("fault", ["429", "secondary"])
def test_github_asks_for_six_hours_and_the_asker_hears_it_at_once(team: Team, fault: Any) -> None:
    team.world.github.retry_after = ahead(6 * 3_600)
    team.world.github.fail_next(fault)
    enqueue(team.jobs, team.services, answer_summaries, team.make_request(), "101")
    enqueue(team.jobs, team.services, answer_summaries, team.make_request("second"), "102")
    eventually(lambda: bool(team.whispers and team.world.slack.list_messages(CHANNEL)), SOON)
    assert "GitHub's rate limit for this token is used up: try again in 6 hours." in team.whispers[0]


def test_what_github_puts_off_for_a_while_comes_by_itself_and_the_rest_at_once(team: Team) -> None:
    team.world.github.retry_after = PAUSE
    team.world.github.fail_next("429", match="/graphql")
    enqueue(team.jobs, team.services, answer_summaries, team.make_request(), "101 102")
    eventually(lambda: len(team.world.slack.list_messages(CHANNEL)) == 1, PAUSE)
    eventually(lambda: len(team.world.slack.list_messages(CHANNEL)) == 2, SOON)
    assert not team.whispers, "what passes within a moment needs no words"


def test_a_service_that_asks_for_ever_longer_is_given_up(team: Team) -> None:
    thread = team.world.slack.add_message(CHANNEL, "hello")
    team.world.slack.fail_next("chat.postMessage", retry_after=720)
    long_ago = int(datetime.now(UTC).timestamp() - 7_000) * 1_000
    asked = slack_request("mention:1", thread=thread, message=thread)
    team.put_job("summary", make_summary_payload(asked), put_off_since=long_ago)
    eventually(lambda: len(team.whispers) == 2, SOON)
    assert "without success: ask again" in team.whispers[1]


def test_five_summaries_in_one_second_are_posted_one_a_second_and_none_is_refused(team: Team) -> None:
    add_small_day(team.world.github, 5)
    times: list[float] = []

    def note(method: str, _: object) -> None:
        if method == "chat.postMessage":
            times.append(time.monotonic())

    team.world.slack.before = note
    enqueue(team.jobs, team.services, answer_summaries, team.make_request("one"), "101 102 103")
    enqueue(team.jobs, team.services, answer_summaries, team.make_request("two"), "104 105")
    eventually(lambda: len(team.world.slack.list_messages(CHANNEL)) == 5, 2 * SOON)
    assert [later - earlier > 0.9 for earlier, later in pairwise(times)] == [True] * 4


# --- attempts


def proxy(name: str = "one") -> MessageProxy:
    message: Message[Any] = Message("prdigest", "tell", (), {}, {}, message_id=name)
    return MessageProxy(message)


ENDS: dict[str, BaseException | None] = {
    "done": None,
    "failed": ValueError("a defect"),
    "tried again": Retry("later"),
    "interrupted": JobInterruption(),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_attempt_that_ends_is_no_death_however_it_ends(store: Redis, end: str) -> None:
    with closing(make_broker(store, _nobody_is_told)) as broker:
        attempts = AttemptCounter(store, UNPREFIXED)
        for _ in range(3 * MAX_ATTEMPTS):
            attempts.before_process_message(broker, proxy())
            attempts.after_process_message(broker, proxy(), exception=ENDS[end])
        assert int(cast("bytes | None", store.get("attempts:one")) or 0) == 0


def test_an_attempt_that_was_interrupted_does_not_make_up_for_those_that_died(store: Redis) -> None:
    with closing(make_broker(store, _nobody_is_told)) as broker:
        for _ in range(MAX_ATTEMPTS - 1):
            AttemptCounter(store, UNPREFIXED).before_process_message(broker, proxy())
        last = AttemptCounter(store, UNPREFIXED)
        last.before_process_message(broker, proxy())
        last.after_process_message(broker, proxy(), exception=JobInterruption())
        last.before_process_message(broker, proxy())
        with pytest.raises(AttemptLimitError):
            last.before_process_message(broker, proxy())


def test_those_that_died_twice_run_one_at_a_time(store: Redis) -> None:
    for name in ("one", "two"):
        store.set(f"attempts:{name}", MAX_ATTEMPTS - 1)
    with closing(make_broker(store, _nobody_is_told)) as broker:
        first, second = AttemptCounter(store, UNPREFIXED), AttemptCounter(store, UNPREFIXED)
        first.before_process_message(broker, proxy("one"))
        for _ in range(2 * MAX_ATTEMPTS):
            with pytest.raises(TurnWait) as caught:
                second.before_process_message(broker, proxy("two"))
            second.after_process_message(broker, proxy("two"), exception=caught.value)
        first.after_process_message(broker, proxy("one"))
        second.before_process_message(broker, proxy("two"))
        second.after_process_message(broker, proxy("two"))


def test_jobs_that_died_beside_another_are_done_one_after_the_other(team: Team) -> None:
    for number in range(3):
        notice = {"asker": team.make_request(f"command:{number}"), "sentence": f"Number {number}"}
        team.put_job("tell", send_private_notice.encode(notice), died=MAX_ATTEMPTS - 1)
    eventually(lambda: len(team.whispers) == 3, SOON)
    assert sorted(team.whispers) == ["Number 0", "Number 1", "Number 2"]
    eventually(lambda: not team.store.keys("attempts:*"), SOON)


def test_a_store_that_is_away_counts_nothing_and_stops_nothing(
    store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(make_broker(store, _nobody_is_told)) as broker, connect_server("unix:///nowhere/socket") as away:
        attempts = AttemptCounter(away, UNPREFIXED)
        attempts.before_process_message(broker, proxy())
        attempts.after_process_message(broker, proxy())
    phrase = "is not counted: "
    assert [message.partition(phrase)[0] + phrase for message in caplog.messages] == [
        f"an attempt of a job {phrase}",
        f"the end of a job {phrase}",
    ]
    assert not store.keys("attempts:*")
