import io
import json
import re
import shlex
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from localslack.rules.messages import find_links, find_mentions
from redis import Redis

from bot.cli import cli
from bot.cli.digests import risks_group
from bot.features.questions.view import VOTES, Vote
from bot.platform.slack.blocks import FeedbackVerdict
from bot.platform.store.tables import Store
from tests.cli.conftest import Call
from tests.emulators.claude.server import (
    Failure,
    Json,
    Refusal,
    Step,
    overview_answer,
    review_answer,
    schema_of,
    summary_answer,
    suspicion,
)
from tests.emulators.github.store import changed_file, pull
from tests.helpers.builders import NOON
from tests.helpers.processes.command import prdigest, start_interpreter, started
from tests.helpers.world import CHANNEL, SMALL_DAY, World, add_small_day, as_read, world

pytestmark = pytest.mark.slow

POST = ("digest", *SMALL_DAY, "--channel", CHANNEL)


@pytest.fixture
def there(store: Redis, store_url: str):  # type: ignore[no-untyped-def]
    with world(store_url) as made:
        yield made
        assert made.claude.problems == []


class TestCommandLine:
    """One starts it in an interpreter of its own; the others here are forks that had it imported, or calls."""

    def test_help_names_every_command(self, tmp_path: Path) -> None:
        done = prdigest("--help", settings={}, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert all(done.stdout.count(f"\n  {name}  ") == 1 for name in cli.commands)
        titles = re.findall(r"^(\w+) \(example: prdigest (\w+)", done.stdout, re.MULTILINE)
        assert [title for title, _ in titles] == ["Try", "Read", "Run", "Maintain"]
        assert {name for _, name in titles} <= set(cli.commands)
        assert "…" not in done.stdout
        assert "..." not in done.stdout.replace("[ARGS]...", "")

    def test_the_help_of_every_command_has_an_example_that_it_takes(self) -> None:
        commands: dict[tuple[str, ...], click.Command] = {(name,): each for name, each in cli.commands.items()}
        commands |= {("risks", name): each for name, each in risks_group.commands.items()}
        assert [
            words for words, each in commands.items() if not (each.epilog or "").startswith("\b\nExample: ")
        ] == []
        for words, command in commands.items():
            example_words = shlex.split((command.epilog or "").partition("Example: ")[2].partition(" > ")[0])
            assert example_words[: len(words) + 1] == ["prdigest", *words]
            # options and arguments are parsed, the command is not run; a file for import must exist
            if words not in (("import",), ("risks",)):
                command.make_context(words[-1], example_words[len(words) + 1 :])

    def test_the_version_is_that_of_the_package(self, tmp_path: Path) -> None:
        done = prdigest("--version", settings={}, folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, f"prdigest, version {version('prdigest')}\n")

    def test_a_wrong_use_says_how_it_is_written_and_where_the_help_is(self, tmp_path: Path) -> None:
        done = prdigest("zzz", settings={}, folder=tmp_path)
        usage = "Usage: prdigest [OPTIONS] COMMAND [ARGS]...\nTry `prdigest --help`.\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: No such command 'zzz'.\n{usage}")

    def test_a_missing_value_is_told_with_the_usage_of_its_command(self, call_command: Call) -> None:
        done = call_command("broke", settings={})
        assert (done.returncode, done.stderr.splitlines()) == (
            2,
            [
                "Error: Missing option '--upstream'.",
                "Usage: prdigest broke [OPTIONS] [TRACE]",
                "Try `prdigest broke --help`.",
            ],
        )

    def test_a_report_of_it_is_that_of_others(self, there: World, tmp_path: Path) -> None:
        """What one process kept another one finds, though its hashes are seeded otherwise."""
        add_small_day(there.github)
        first, second = (
            prdigest("report", *SMALL_DAY, settings=there.settings, folder=tmp_path, start=start)
            for start in (started, start_interpreter)
        )
        assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, "")
        assert len(there.claude.requests) == 3


class TestDemo:
    def test_it_shows_a_day_and_answers_one_question_without_any_setting(self, tmp_path: Path) -> None:
        done = prdigest("demo", "--text", settings={}, folder=tmp_path, typed="nonsense\n35617\n")
        assert (done.returncode, done.stderr) == (0, "")
        for shown in ("vLLM · Saturday 28 February 2026 · 18 merged", "In its thread", "vLLM-2026-02-28.md"):
            assert shown in done.stdout
        # what is to be read is not scrolled away by the report
        assert "# vLLM Merged PR Report" not in done.stdout
        assert done.stdout.count("\n") < 140
        assert "The summaries and AI bug reviews were written for this sample" in done.stdout
        assert "I couldn't find a pull request number in 'nonsense'" in done.stdout
        assert "/prsummary 35617" in done.stdout
        assert list(tmp_path.iterdir()) == []

    def test_the_report_comes_if_it_is_asked_for(
        self, call_command: Call, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        assert "# vLLM Merged PR Report" in call_command("demo", "--text", "--report", settings={}).stdout
        assert call_command("demo", "--report", settings={}).returncode == 2

    def test_it_ends_when_nobody_answers(self, tmp_path: Path) -> None:
        assert prdigest("demo", "--text", settings={}, folder=tmp_path).returncode == 0


class TestReport:
    def test_it_goes_to_a_file(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        done = prdigest("report", *SMALL_DAY, "--out", "day.md", settings=there.settings, folder=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        written = (tmp_path / "day.md").read_text()
        assert written.startswith("# Engine Merged PR Report\n\n**Report Date:** 2026-02-28 PST\n\n")
        assert written.count("### Summary") == 3

    def test_it_asks_for_no_overview_that_nobody_would_read(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        prdigest("report", *SMALL_DAY, settings=there.settings, folder=tmp_path)
        asked = [set((schema_of(body) or {})["properties"]) for body in there.claude.requests]
        assert len(asked) == 3
        assert not any("overview" in properties for properties in asked)
        prdigest("digest", *SMALL_DAY, "--dry-run", settings=there.settings, folder=tmp_path)
        # a digest has the bugs of each, and the opening
        *reviews, last = (set((schema_of(body) or {})["properties"]) for body in there.claude.requests[3:])
        assert ["suspicions" in each for each in reviews] == [True] * 3
        assert "overview" in last

    def test_settings_stand_in_for_options(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        (tmp_path / ".env").write_text("PRDIGEST_REPO=octo/engine\nPRDIGEST_TIMEZONE=Europe/Berlin\nREDIS_URL=\n")
        done = prdigest("report", "--date", "2026-02-28", settings=there.settings, folder=tmp_path)
        assert "**Report Date:** 2026-02-28 CET" in done.stdout

    def test_the_name_of_the_own_repository_is_not_that_of_another(self, there: World, call_command: Call) -> None:
        there.github.add("octo/engine")
        there.github.add("octo/other")
        settings = {**there.settings, "PRDIGEST_REPO": "octo/engine", "PRDIGEST_NAME": "The Engine"}
        report = ("report", "--date", "2026-02-28")
        assert "The Engine" in call_command(*report, settings=settings).stdout
        assert "The Engine" not in call_command(*report, "--repo", "octo/other", settings=settings).stdout

    def test_without_a_model_key_the_facts_stand_in_and_it_says_so(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        settings = {**there.settings, "ANTHROPIC_API_KEY": ""}
        done = prdigest("report", *SMALL_DAY, settings=settings, folder=tmp_path)
        assert done.returncode == 0
        assert done.stderr == "ANTHROPIC_API_KEY is not set: summaries contain facts only.\n"
        assert done.stdout.count("*No model summary: no model is set up.") == 3

    def test_an_empty_day_is_a_report_too(self, there: World, tmp_path: Path) -> None:
        there.github.add("octo/engine")
        done = prdigest("report", *SMALL_DAY, settings=there.settings, folder=tmp_path)
        assert done.stdout.endswith("**Total Merged PRs:** 0\n\n---\n\n")
        assert there.claude.requests == []


class TestDigest:
    def test_a_dry_run_prints_the_messages_and_calls_no_slack(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        done = prdigest("digest", *SMALL_DAY, "--dry-run", settings=there.settings, folder=tmp_path)
        printed = json.loads(done.stdout)
        assert list(printed) == ["lead", "thread"]
        heading = "Engine · Saturday 28 February 2026 (America/Los_Angeles). I couldn't read "
        assert printed["lead"]["text"].startswith(heading)
        assert there.slack.calls == []

    def test_a_dry_run_needs_no_slack_settings(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        settings = {name: value for name, value in there.settings.items() if "SLACK" not in name}
        assert prdigest("digest", *SMALL_DAY, "--dry-run", settings=settings, folder=tmp_path).returncode == 0

    def test_it_is_posted_once_however_often_it_is_run(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        first = prdigest(*POST, settings=there.settings, folder=tmp_path)
        second = prdigest(*POST, settings=there.settings, folder=tmp_path)
        assert first.stdout.startswith("Posted: http")
        assert second.stdout == first.stdout.replace("Posted", "Already posted")
        lead, replies = there.digest()
        assert "All 3 read in full" in as_read(lead)
        assert len(replies) == 2
        # also by the name that the repository got meanwhile
        there.github.store.rename("octo/engine", "elsewhere/motor")
        for name in ("elsewhere/motor", "octo/engine"):
            again = prdigest(*POST, settings={**there.settings, "PRDIGEST_REPO": name}, folder=tmp_path)
            assert again.stdout == second.stdout
        assert there.digest() == (lead, replies)
        # three summaries, three reviews and the opening
        assert len(there.claude.requests) == 7

    def test_the_digest_goes_out_with_facts_when_the_model_is_away(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        there.claude.respond = lambda _body: Refusal()
        assert prdigest(*POST, settings=there.settings, folder=tmp_path).returncode == 0
        lead, _ = there.digest()
        assert "I couldn't read 3 of 3 diffs (" in " ".join(as_read(lead).split())

    def test_one_failing_summary_is_named_and_the_others_stand(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)

        def respond(body: dict) -> Step:  # type: ignore[type-arg]
            if "overview" in (schema_of(body) or {})["properties"]:
                return Json(overview_answer())
            if "suspicions" in (schema_of(body) or {})["properties"]:
                return Json(review_answer())
            refused = "#102:" in body["messages"][0]["content"]
            return Refusal() if refused else Json(summary_answer())

        there.claude.respond = respond
        prdigest(*POST, settings=there.settings, folder=tmp_path)
        lead, _ = there.digest()
        assert "I couldn't read 1 of 3 diffs (" in " ".join(as_read(lead).split())
        assert "facts only: #102" in as_read(lead)

    def test_hostile_titles_and_answers_come_out_harmless(self, there: World, tmp_path: Path) -> None:
        hostile = "<!channel> @here <https://evil.example|free> `x` #999"
        files = (changed_file("engine/retry.py", patch=f"@@ -1 +1,2 @@\n a\n+{hostile}"),)
        there.github.add("octo/engine", pull(101, title=hostile, body=hostile, merged_at=NOON, files=files))
        answer = summary_answer(headline=hostile, risk_reason=hostile, action=hostile, evidence=[])
        answers = {
            "overview": overview_answer(
                overview=hostile, themes=[{"title": hostile, "pull_requests": [101, 999]}]
            ),
            "suspicions": review_answer(suspicion(consequence=hostile, trigger=hostile, affected=hostile)),
            "headline": answer,
        }
        there.claude.respond = lambda body: Json(
            next(answers[name] for name in answers if name in (schema_of(body) or {})["properties"])
        )
        assert prdigest(*POST, settings=there.settings, folder=tmp_path).returncode == 0
        lead, replies = there.digest()
        for message in (lead, *replies):
            assert find_mentions(message) == []
            assert set(find_links(message)) <= {"https://github.com/octo/engine/pull/101"}

    def test_an_empty_day_is_one_short_message(self, there: World, tmp_path: Path) -> None:
        there.github.add("octo/engine")
        prdigest(*POST, settings=there.settings, folder=tmp_path)
        lead, replies = there.digest()
        assert lead["text"] == "Engine · Saturday 28 February 2026 (America/Los_Angeles) · nothing merged"
        assert replies == []
        assert there.slack.files == []


class TestSummary:
    def test_it_prints_one_pull_request(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github, 1)
        quote = {"path": "engine/retry.py", "quote": "retries = 101"}
        there.claude.respond = lambda _body: Json(
            summary_answer(evidence=[quote, {**quote, "quote": "made up text"}])
        )
        done = prdigest("summary", "101", "--repo", "octo/engine", settings=there.settings, folder=tmp_path)
        assert done.returncode == 0
        assert "#101 Count retries 101" in done.stdout
        assert "engine/retry.py:2  retries = 101" in done.stdout
        assert "made up text" not in done.stdout

    def test_as_json_it_is_for_scripts(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github, 1)
        done = prdigest("summary", "octo/engine#101", "--json", settings=there.settings, folder=tmp_path)
        printed = json.loads(done.stdout)
        assert (printed["number"], printed["coverage"], printed["from_cache"]) == (101, "full", False)
        again = prdigest("summary", "octo/engine#101", "--json", settings=there.settings, folder=tmp_path)
        assert json.loads(again.stdout)["from_cache"] is True

    def test_an_open_one_says_that_it_is_not_merged(self, there: World, tmp_path: Path) -> None:
        there.github.add("octo/engine", pull(7, state="OPEN"))
        done = prdigest("summary", "7", "--repo", "octo/engine", settings=there.settings, folder=tmp_path)
        assert "not merged (open)" in done.stdout


FAILURES = [
    pytest.param(("report", "--date", "2026-02-28"), {}, 2, "No repository: pass --repo", id="no repository"),
    pytest.param(("report", "--repo", "nonsense"), {}, 2, "is not a repository", id="bad repository"),
    pytest.param(("report", "--repo", "a/b", "--date", "28.2."), {}, 2, "is not a date", id="bad date"),
    pytest.param(("report", "--repo", "a/b", "--timezone", "Mars"), {}, 2, "is not a time zone", id="bad zone"),
    pytest.param(("report", *SMALL_DAY, "--out", "no/such/file"), {}, 2, "can't be written", id="bad file"),
    pytest.param(("report", "--repo", "a/b", "--date", "2030-01-01"), {}, 2, "still to come", id="future day"),
    pytest.param(("backfill", "--repo", "a/b", "--since", "2030-01-01"), {}, 2, "still to come", id="future days"),
    pytest.param(("digest", *SMALL_DAY), {}, 2, "No channel: pass", id="no channel"),
    pytest.param((*POST[:-1], "#vllm"), {}, 2, "--channel can't be used: use the channel's id", id="channel name"),
    pytest.param(
        ("digest", *SMALL_DAY),
        {"PRDIGEST_CHANNEL": "#vllm"},
        2,
        "PRDIGEST_CHANNEL can't be",
        id="name in settings",
    ),
    pytest.param(POST, {"SLACK_BOT_TOKEN": ""}, 2, "Set SLACK_BOT_TOKEN", id="no Slack token"),
    pytest.param(("summary", "12x"), {}, 2, "I couldn't find a pull request number", id="nonsense"),
    pytest.param(
        ("report", "--repo", "a/b"),
        {"GITHUB_TOKEN": ""},
        2,
        "Run `prdigest doctor` for the full list",
        id="no token",
    ),
    pytest.param(("report", *SMALL_DAY), {"GITHUB_TOKEN": "x"}, 1, "rejected the token", id="bad token"),
    pytest.param(("report", "--repo", "no/such"), {}, 1, "no repository no/such", id="unknown repository"),
    pytest.param(("summary", "octo/engine#9"), {}, 1, "no pull request #9", id="unknown number"),
    pytest.param(
        ("report", *SMALL_DAY), {"GITHUB_API_URL": "http://127.0.0.1:9"}, 1, "be reached", id="no GitHub"
    ),
    pytest.param(("report", *SMALL_DAY), {"REDIS_URL": "redis://127.0.0.1:9"}, 1, "store does not", id="no store"),
    pytest.param(
        ("report", *SMALL_DAY), {"REDIS_URL": "nonsense"}, 1, "is not an address", id="bad store address"
    ),
    pytest.param(("report",), {"PRDIGEST_CONCURRENCY": "many"}, 2, "PRDIGEST_CONCURRENCY can't", id="bad setting"),
    pytest.param((*POST[:-1], "C0NOWHERE"), {}, 1, "no channel C0NOWHERE", id="unknown channel"),
    pytest.param((*POST[:-1], "C0OUTSIDE"), {}, 1, "not in channel C0OUTSIDE", id="not in channel"),
    pytest.param(POST, {"SLACK_BOT_TOKEN": "xoxb-bad"}, 1, "Slack rejected the token", id="bad Slack token"),
    pytest.param(POST, {"SLACK_API_URL": "http://127.0.0.1:9"}, 1, "Slack can't be reached", id="no Slack"),
]


@pytest.mark.parametrize(("arguments", "settings", "code", "sentence"), FAILURES)
def test_a_failure_is_one_sentence_and_an_exit_code(
    arguments: tuple[str, ...],
    settings: dict[str, str],
    code: int,
    sentence: str,
    there: World,
    call_command: Call,
) -> None:
    add_small_day(there.github, 1)
    there.slack.add_channel("C0OUTSIDE", "outside", member=False)
    done = call_command(*arguments, settings={**there.settings, **settings})
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    # what can be refused at once is refused before GitHub is asked
    assert code == 1 or there.github.calls == []
    for secret in (there.github.token, there.claude.api_key, "xoxb-"):
        assert secret not in done.stderr or "(xoxb-…)" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "sentence"),
    [each for each in FAILURES if each.id in ("bad date", "no GitHub")],
)
def test_a_failure_is_the_end_of_the_process(
    arguments: tuple[str, ...], settings: dict[str, str], code: int, sentence: str, there: World, tmp_path: Path
) -> None:
    done = prdigest(*arguments, settings={**there.settings, **settings}, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert sentence in done.stderr


def test_a_busy_model_is_waited_for(there: World, tmp_path: Path) -> None:
    add_small_day(there.github, 1)
    there.claude.script(Failure(529, "overloaded_error", retry_after=1), Json(summary_answer(headline="Worth it")))
    done = prdigest("summary", "octo/engine#101", settings=there.settings, folder=tmp_path)
    assert "Worth it" in done.stdout


class TestVotes:
    def test_they_are_printed_as_lines_of_json(self, there: World, store: Redis, tmp_path: Path) -> None:
        rows = [("U1", "good", "Größer?"), ("U2", "bad", "What broke?")]
        for user, verdict, question in rows:
            vote = Vote(verdict=FeedbackVerdict(verdict), at=NOON, user=user, question=question)
            Store(store).put_field(VOTES, f"C1:1.0:{user}", vote)
        done = prdigest("votes", settings=there.settings, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        printed = sorted(map(json.loads, done.stdout.splitlines()), key=lambda vote: str(vote["user"]))
        assert [(vote["user"], vote["verdict"], vote["question"]) for vote in printed] == rows

    def test_without_any_it_says_so_beside_the_lines_for_scripts(self, there: World, tmp_path: Path) -> None:
        # it needs no Slack
        settings = {**there.settings, "SLACK_BOT_TOKEN": ""}
        done = prdigest("votes", settings=settings, folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith("No votes yet")
