import io
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from bot.app import open_app
from bot.cli import run_cli
from bot.dates import LocalDay, Span, parse_zone
from bot.errors import GitHubAccessDenied, PrdigestError, RepositoryNotFound, UsageError
from bot.features.backfill import FILLED_DAYS, BackfillAborted, BackfillOutcome, CostLimit, fill_days
from bot.features.digest.service import DigestUse, build_digest
from bot.platform.pulls.models import PullRequest
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store
from bot.settings import load_settings
from impact.repository import Repository
from tests.emulators.claude.server import Refusal, schema_of
from tests.emulators.github.client import client
from tests.emulators.github.server import FailureKind
from tests.emulators.github.store import changed_file, pull
from tests.helpers.builders import NOON, REPOSITORY, SHARED, needs_shared
from tests.helpers.checks import eventually, is_one_sentence
from tests.helpers.processes.command import prdigest, started
from tests.helpers.world import World, replay, world

pytestmark = pytest.mark.slow

ZONE = parse_zone("America/Los_Angeles")
SPAN = Span(date(2026, 2, 26), date(2026, 2, 28), ZONE)
DAYS = ("--repo=octo/engine", "--since=2026-02-26", "--until=2026-02-28", "--timezone=America/Los_Angeles")
FILLED = "octo/engine, 2026-02-26..2026-02-28 in America/Los_Angeles: 3 days: "
REPLAYED = ("2026-02-22", "2026-02-24", "2026-02-28")
VLLM = Repository("vllm-project", "vllm")


@dataclass
class Waits:
    """A ``sleep`` that takes no time; the limits of GitHub are over after one."""

    there: World
    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.there.github.set_limit("core", 5_000)


@pytest.fixture
def there(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Two pull requests on each of three days, and the settings that lead there."""
    store.ping()
    with world(store_url) as made:
        for name, value in made.settings.items():
            monkeypatch.setenv(name, value)
        for number in range(1, 7):
            at = NOON - timedelta(days=(number - 1) // 2, minutes=number)
            made.github.add("octo/engine", pull(number, merged_at=at, files=[changed_file(f"of/{number}.py")]))
        yield made
        assert made.claude.problems == []


def calls(there: World) -> Counter[str]:
    return Counter(call.path.rpartition("/")[2] for call in there.github.calls)


def read_records(store: Redis, repository: Repository = REPOSITORY) -> dict[int, PullRequest]:
    month = timedelta(days=30)
    return {each.number: each for each in HistoryStore(store).read_merges(repository, NOON - month, NOON + month)}


class TestCommand:
    def test_it_fills_and_says_what_it_did(
        self, there: World, store: Redis, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run_cli(["backfill", *DAYS])
        output = capsys.readouterr()
        assert output.out == f"{FILLED}3 filled\nread: 6 pull requests, $0.00\n"
        assert output.err == ""
        assert {n: [file.path for file in each.files or ()] for n, each in read_records(store).items()} == {
            n: [f"of/{n}.py"] for n in range(1, 7)
        }
        assert len(there.claude.requests) == 6
        # a search for each day, and the patches and the files of each pull request; looks at the limits are free
        assert calls(there) == {"graphql": 3 + 6, "files": 6, "rate_limit": 9}

    def test_run_again_it_asks_nobody(self, there: World, capsys: pytest.CaptureFixture[str]) -> None:
        run_cli(["backfill", *DAYS])
        there.github.calls.clear()
        run_cli(["backfill", *DAYS])
        assert f"{FILLED}0 filled, 3 loaded before\nread: 0 pull requests" in capsys.readouterr().out
        assert (there.github.calls, len(there.claude.requests)) == ([], 6)

    def test_facts_ask_no_model(self, there: World, capsys: pytest.CaptureFixture[str]) -> None:
        run_cli(["backfill", *DAYS, "--facts"])
        assert capsys.readouterr().out == f"{FILLED}3 filled\nread: 6 pull requests\n"
        assert there.claude.requests == []

    def test_without_a_key_it_says_once_that_facts_are_all(
        self, there: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        run_cli(["backfill", *DAYS])
        output = capsys.readouterr()
        assert output.err == "ANTHROPIC_API_KEY is not set: loading history and files only.\n"
        assert output.out.endswith("read: 6 pull requests\n")

    def test_settings_stand_in_for_options(
        self, there: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("PRDIGEST_REPO", "octo/engine")
        monkeypatch.setenv("PRDIGEST_TIMEZONE", "Europe/Berlin")
        run_cli(["backfill", "--facts", "--since", "2026-02-28", "--until", "2026-02-28"])
        assert "octo/engine, 2026-02-28 in Europe/Berlin: 1 day: 1 filled" in capsys.readouterr().out

    def test_without_an_end_it_is_yesterday(self, there: World, capsys: pytest.CaptureFixture[str]) -> None:
        yesterday = datetime.now(ZONE).date() - timedelta(days=1)
        run_cli(["backfill", "--facts", DAYS[0], f"--since={yesterday}", DAYS[3]])
        assert f"{yesterday} in America/Los_Angeles: 1 day: 1 filled" in capsys.readouterr().out

    def test_each_day_is_a_line_of_the_log(self, there: World, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "bot.cli.maintain"):
            run_cli(["backfill", *DAYS, "--facts"])
        told = [record.message for record in caplog.records if record.name == "bot.cli.maintain"]
        assert told == [f"2026-02-{day}: 2 pull requests" for day in (28, 27, 26)]

    def test_a_terminal_shows_how_far_it_is(self, there: World) -> None:
        terminal = Terminal()
        with redirect_stderr(terminal):
            run_cli(["backfill", *DAYS])
        shown = terminal.getvalue()
        for part in ("Days:", "0/3", "3/3", "2 pull requests, $0.00", "6 pull requests, $0.00"):
            assert part in shown

    def test_what_is_missing_is_named_and_a_failure(
        self, there: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        there.github.fail_next("404", match="/pulls/4/")
        with pytest.raises(PrdigestError, match="1 day could not be loaded") as caught:
            run_cli(["backfill", *DAYS, "--facts"])
        assert is_one_sentence(str(caught.value))
        told = f"{FILLED}2 filled, 1 not loaded\nread: 6 pull requests\nnot loaded: 2026-02-27: not readable: #4\n"
        assert capsys.readouterr().out == told
        run_cli(["backfill", *DAYS, "--facts"])
        assert f"{FILLED}1 filled, 2 loaded before\n" in capsys.readouterr().out

    def test_a_cost_that_is_reached_ends_it_and_it_says_how_far_it_came(
        self, there: World, store: Redis, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(BackfillAborted, match="--facts") as caught:
            run_cli(["backfill", *DAYS, "--max-cost", "0.0001"])
        assert "The limit of $0.00 is reached" in str(caught.value)
        assert "not reached" in capsys.readouterr().out
        run_cli(["backfill", *DAYS])
        assert len(read_records(store)) == 6
        # what was paid for is not paid for twice
        assert len(there.claude.requests) == 6

    def test_a_model_that_refuses_one_leaves_its_facts(
        self, there: World, store: Redis, capsys: pytest.CaptureFixture[str]
    ) -> None:
        there.claude.script(Refusal())
        with pytest.raises(PrdigestError):
            run_cli(["backfill", *DAYS])
        assert "without a summary: #" in capsys.readouterr().out
        assert len(read_records(store)) == 6

    @pytest.mark.parametrize(
        ("arguments", "settings", "error"),
        [(("--repo=no/such",), {}, RepositoryNotFound), ((), {"GITHUB_TOKEN": "ghp_wrong"}, GitHubAccessDenied)],
        ids=["unknown repository", "refused token"],
    )
    def test_what_can_not_be_helped_ends_it_at_once(
        self,
        there: World,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        arguments: tuple[str, ...],
        settings: dict[str, str],
        error: type[Exception],
    ) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(error):
            run_cli(["backfill", *DAYS, *arguments])
        assert capsys.readouterr().out == ""
        assert calls(there)["graphql"] == 1

    REFUSED = (
        pytest.param((*DAYS, "--repo=nonsense"), "is not a repository", id="bad repository"),
        pytest.param(DAYS[1:], "No repository: pass", id="no repository"),
        pytest.param((*DAYS, "--since=28.2."), "is not a date", id="bad date"),
        pytest.param((*DAYS, "--timezone=Mars"), "is not a time zone", id="bad zone"),
        pytest.param((*DAYS, "--until=2026-02-20"), "no day from 2026-02-26 to 2026-02-20", id="reversed"),
        pytest.param((*DAYS, "--until=2999-01-01"), "2999-01-01 is still to come", id="to come"),
    )

    @pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
    def test_what_makes_no_sense_is_refused_before_anything_is_asked(
        self, there: World, arguments: tuple[str, ...], sentence: str
    ) -> None:
        with pytest.raises(UsageError, match=sentence) as caught:
            run_cli(["backfill", *arguments])
        assert is_one_sentence(str(caught.value).replace("28.2.", ""))
        assert there.github.calls == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestLimits:
    """What GitHub says of its limits, with pauses that take no time."""

    def fill(
        self, there: World, limit: CostLimit | None = None
    ) -> tuple[list[BackfillOutcome], list[float], list[str]]:
        waits, heard = Waits(there), list[str]()
        with open_app(load_settings(), lambda: datetime.now(UTC), waits) as base:
            outcomes = list(fill_days(base, REPOSITORY, SPAN, limit, heard.append))
        return outcomes, waits.seconds, heard

    @pytest.mark.parametrize("kind", ["429", "secondary", "primary"])
    @pytest.mark.parametrize("place", ["/graphql", "/pulls/3/"])
    def test_a_long_pause_is_waited_out(self, there: World, store: Redis, kind: FailureKind, place: str) -> None:
        there.github.retry_after = 1_800
        there.github.fail_next(kind, match=place)
        outcomes, waited, heard = self.fill(there)
        assert [outcome.is_filled for outcome in outcomes] == [True] * 3
        assert len(waited) == 1
        assert waited[0] == pytest.approx(1_800, abs=5)
        assert heard[0].startswith("GitHub limits the rate: waiting until ")
        assert len(read_records(store)) == 6

    @pytest.mark.parametrize("kind", ["429-bare", "graphql-rate-limited"])
    def test_a_refusal_without_a_time_is_a_minute(self, there: World, kind: FailureKind) -> None:
        there.github.fail_next(kind, match="/graphql")
        outcomes, waited, _ = self.fill(there)
        assert ([outcome.is_filled for outcome in outcomes], waited) == ([True] * 3, [60.0])

    def test_the_last_tenth_is_left_to_the_bot(self, there: World) -> None:
        there.github.set_limit("core", 20)
        with client(there.github) as somebody_else:
            for _ in range(19):
                somebody_else.get_repo("octo/engine")
        before = len(there.github.calls)
        outcomes, waited, heard = self.fill(there)
        assert all(outcome.is_filled for outcome in outcomes)
        assert waited == [pytest.approx(3_600, abs=10)]
        assert heard[0].startswith("1 of 20 GitHub calls are reserved for others: waiting until ")
        assert [call.path for call in there.github.calls[before:]][:2] == ["/rate_limit", "/graphql"]

    def test_two_are_read_at_a_time(self, there: World) -> None:
        files = [changed_file("of/day.py")]
        there.github.add("octo/engine", *(pull(n, merged_at=NOON, files=files) for n in range(11, 19)))
        there.claude.latency = 0.03
        self.fill(there, CostLimit(5.0))
        assert there.claude.in_flight_peak == 2

    def test_limits_that_nobody_tells_stop_nothing(self, there: World) -> None:
        there.github.fail_next("404", times=99, match="/rate_limit")
        outcomes, waited, _ = self.fill(there)
        assert ([outcome.is_filled for outcome in outcomes], waited) == ([True] * 3, [])


@needs_shared
class TestReplay:
    def test_the_history_is_the_record_and_a_digest_finds_all_of_it(self, there: World, store: Redis) -> None:
        records = {each["number"]: each for date_ in REPLAYED for each in replay(there.github, SHARED, date_)}
        days = ["--repo=vllm-project/vllm", "--since=2026-02-22", "--until=2026-02-28", DAYS[3]]
        run_cli(["backfill", *days])
        known = read_records(store, VLLM)
        assert {number: facts_of(each) for number, each in known.items()} == {
            number: facts_of_record(each) for number, each in records.items()
        }
        assert calls(there) == {"graphql": 7 + 58, "files": 71, "rate_limit": 13}
        assert Counter(map(purpose, there.claude.requests)) == {"summary": 71}
        there.github.calls.clear()
        there.claude.requests.clear()
        with open_app(load_settings(), lambda: datetime.now(UTC), time.sleep) as base:
            builder = partial(build_digest, base, use=DigestUse.TERMINAL)
            digests = [builder(VLLM, LocalDay(date.fromisoformat(day), ZONE), "vLLM") for day in REPLAYED]
        assert [len(digest.entries) for digest in digests] == [10, 43, 18]
        # what was merged around each was recorded before it was read, so that no summary is asked for twice
        assert all(entry.from_cache for digest in digests for entry in digest.entries)
        # the lists, and once for each merge with files that may hold something for callers: these lie nowhere here
        assert calls(there) == {"graphql": 3 + 64}
        assert Counter(map(purpose, there.claude.requests)) == {"overview": 3, "review": 58}


def purpose(request: dict[str, Any]) -> str:
    shape = (schema_of(request) or {})["properties"]
    return "overview" if "overview" in shape else "review" if "suspicions" in shape else "summary"


def facts_of(known: PullRequest) -> tuple[object, ...]:
    files = known.files or ()
    assert all(file.patch is None for file in files)
    return (
        known.title,
        known.merge_time,
        known.merge_commit,
        known.head_commit,
        known.additions,
        known.deletions,
        known.changed_files,
        {file.path: (file.status, file.additions, file.deletions, file.previous_path) for file in files},
    )


def facts_of_record(record: dict[str, Any]) -> tuple[object, ...]:
    folder = next(SHARED.glob(f"replay/*/files/{record['number']}.json")).read_text()
    files = {
        item["filename"]: (item["status"], item["additions"], item["deletions"], item.get("previous_filename"))
        for item in json.loads(folder)
    }
    return (
        record["title"],
        datetime.fromisoformat(record["merged_at"]),
        record["merge_commit_sha"],
        record["head_sha"],
        record["additions"],
        record["deletions"],
        record["changed_files"],
        files,
    )


class TestProcesses:
    def test_killed_in_the_middle_it_goes_on_where_it_was(
        self, there: World, store: Redis, tmp_path: Path
    ) -> None:
        there.github.latency = 0.4  # so long is each step: it is killed in the middle of one

        def list_filled() -> set[str]:
            return set(Store(store).list_fields(FILLED_DAYS, str(REPOSITORY), ZONE))

        process = started("backfill", *DAYS, settings=there.settings, folder=tmp_path)
        try:
            eventually(lambda: str(SPAN.last) in list_filled() and _files_of(there, 3))
        finally:
            process.kill()
            process.wait(timeout=10)
        assert str(SPAN.first) not in list_filled()
        there.github.latency = 0.0
        there.github.calls.clear()
        done = prdigest("backfill", *DAYS, settings=there.settings, folder=tmp_path)
        assert done.returncode == 0
        assert f"{FILLED}2 filled, 1 loaded before\n" in done.stdout
        assert sorted(read_records(store)) == [1, 2, 3, 4, 5, 6]
        assert not _files_of(there, 1)
        assert len(there.claude.requests) <= 8

    def test_a_day_that_is_not_filled_is_exit_code_1(self, there: World, tmp_path: Path) -> None:
        there.github.fail_next("404", times=9, match="/pulls/4/")
        done = prdigest("backfill", *DAYS, "--facts", settings=there.settings, folder=tmp_path)
        assert done.returncode == 1
        assert "not loaded: 2026-02-27: not readable: #4" in done.stdout
        told = done.stderr.splitlines()
        assert [line.partition(" INFO ")[2] for line in told[:3]] == [
            "bot.cli.maintain: 2026-02-28: 2 pull requests",
            "bot.cli.maintain: 2026-02-27: not readable: #4",
            "bot.cli.maintain: 2026-02-26: 2 pull requests",
        ]
        assert told[3:] == ["1 day could not be loaded: run the same command again."]


def _files_of(there: World, number: int) -> bool:
    return bool(there.github.calls_to(f"/repos/octo/engine/pulls/{number}/"))
