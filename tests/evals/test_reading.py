"""The measurement of the AI bug review is honest: scripted readers get the figures that they deserve."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from impact.testing.clones import needs_git
from tests.emulators.claude.server import ClaudeEmulator, Json, Step, review_answer
from tests.evals.paired_clone import BROKEN, DATES, PAIRS, SOUND, find_number, make_paired_clone, report_bug
from tests.helpers.checks import is_one_sentence
from tests.helpers.processes.command import ROOT, Caught

pytestmark = [pytest.mark.slow, needs_git]

EVERY = sorted((*BROKEN, *SOUND))
NOTHING = review_answer()
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_paired_clone(tmp_path_factory.mktemp("paired") / "clone")


@pytest.fixture
def claude() -> Iterator[ClaudeEmulator]:
    with ClaudeEmulator() as emulator:
        yield emulator


@pytest.fixture
def evaluate(clone: Path, claude: ClaudeEmulator, tmp_path: Path) -> Callable[..., Any]:
    """Run ``python -m evals reading ask``, one merge at a time; each test has a store of its own."""

    def run(*arguments: str, key: bool = True) -> subprocess.CompletedProcess[str]:
        settings = {
            "ANTHROPIC_BASE_URL": claude.url,
            **({"ANTHROPIC_API_KEY": claude.api_key} if key else {}),
            "PRDIGEST_STATE_DIR": str(tmp_path / "state"),
            "PRDIGEST_CONCURRENCY": "1",
        }
        command = ("reading", "ask", f"--clone={clone}", *DATES, f"--pairs={PAIRS}")
        done = Caught(*command, *arguments, settings=settings, folder=ROOT, module="evals").await_end()
        assert not claude.problems
        return done

    return run


@pytest.fixture
def evals(tmp_path: Path) -> Run:
    """Run ``python -m evals reading``, without a key."""
    return partial(run_evals, tmp_path)


def run_evals(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = {"PRDIGEST_STATE_DIR": str(state)}
    return Caught("reading", *arguments, settings=settings, folder=ROOT, module="evals").await_end()


@pytest.fixture(scope="module")
def collected_pairs(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    parent = tmp_path_factory.mktemp("collected")
    done = run_evals(parent, "collect", str(parent / "pairs"), f"--clone={clone}", *DATES, f"--pairs={PAIRS}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{PAIRS} pairs, {2 * PAIRS} prompts: ")
    return parent


def answering(report: Callable[[int], dict[str, Any]]) -> Callable[[dict[str, Any]], Step]:
    def respond(body: dict[str, Any]) -> Step:
        return Json(report(find_number(json.dumps(body["messages"][0]))), lenient=True)

    return respond


def right(number: int) -> dict[str, Any]:
    return report_bug(number) if number in BROKEN else NOTHING


def rows(text: str) -> dict[str, str]:
    cut = [" ".join(line.split()) for line in text.splitlines()]
    names = "reading,not recognised,recognised,rules and reading,rules,Confirmed,Cost,Not read".split(",")
    return {name: line for line in cut for name in names[::-1] if line.startswith(name)}


class TestWithAKey:
    @pytest.mark.parametrize(
        ("report", "expected", "confirmed"),
        [
            pytest.param(right, "reading 4 of 4, 100 % [51 %, 100 %] 0 1.000", 4, id="all-right"),
            pytest.param(
                lambda number: NOTHING if number in BROKEN else report_bug(number),
                "reading 0 of 4, 0 % [0 %, 49 %] 0 0.000",
                4,
                id="all-wrong",
            ),
            pytest.param(report_bug, "reading 2 of 4, 50 % [15 %, 85 %] 4 0.500", 8, id="all-equal"),
            pytest.param(lambda _: NOTHING, "reading 2 of 4, 50 % [15 %, 85 %] 4 0.500", 0, id="nothing"),
            pytest.param(
                lambda number: report_bug(number, certainty="high" if number in BROKEN else "low"),
                "reading 4 of 4, 100 % [51 %, 100 %] 0 1.000",
                8,
                id="by-certainty",
            ),
            pytest.param(
                lambda number: report_bug(number, quote="size_0 = not_there()") if number in BROKEN else NOTHING,
                "reading 4 of 4, 100 % [51 %, 100 %] 0 1.000",
                0,
                id="quotes-that-are-not-there",
            ),
        ],
    )
    def test_readers_get_what_they_deserve(
        self,
        evaluate: Run,
        claude: ClaudeEmulator,
        report: Callable[[int], dict[str, Any]],
        expected: str,
        confirmed: int,
    ) -> None:
        claude.respond = answering(report)
        done = evaluate()
        assert (done.returncode, done.stderr) == (0, "")
        table = rows(done.stdout)
        assert table["reading"] == expected
        assert table["Confirmed"] == (
            f"Confirmed findings: {confirmed}, {confirmed} of them with a quote that code found"
        )
        assert len(claude.requests) == 2 * PAIRS

    def test_it_goes_on_where_it_was_and_names_what_failed(self, evaluate: Run, claude: ClaudeEmulator) -> None:
        claude.respond = answering(lambda number: {"suspicions": "none"} if number == 3 else right(number))
        failed = evaluate()
        assert failed.returncode == 1
        assert rows(failed.stdout)["reading"].startswith("reading 3 of 3, 100 %")
        assert rows(failed.stdout)["Not read"] == "Not read: 1 merge; a pair counts only if both are read"
        assert "  #3: the model's report was not usable\n" in failed.stdout
        assert "run the same again to go on" in failed.stderr
        asked = len(claude.requests)
        claude.respond = answering(right)
        done = evaluate("--json")
        assert (done.returncode, len(claude.requests) - asked) == (0, 1)
        report = json.loads(done.stdout)
        assert (report["reading"]["right"], report["reading"]["pairs"], report["eligible"]) == (4, 4, 4)
        assert {pair["repaired"] for pair in report["pairs"]} == set(BROKEN)
        assert {pair["other"] for pair in report["pairs"]} == set(SOUND)
        assert 0 < report["cost"] < 0.1

    def test_memory_is_counted_apart(self, evaluate: Run, claude: ClaudeEmulator) -> None:
        claude.respond = answering(
            lambda number: {**right(number), "recognised": "partly" if number in {2, 4} else "no"}
        )
        table = rows(evaluate().stdout)
        assert table["not recognised"].startswith("not recognised 2 of 2, 100 %")
        assert table["recognised"].startswith("recognised 2 of 2, 100 %")

    def test_the_cost_has_a_limit(self, evaluate: Run, claude: ClaudeEmulator) -> None:
        done = evaluate("--max-cost=0")
        assert (done.returncode, claude.requests) == (1, [])
        assert "not read, as the limit of $0.00 is reached" in done.stdout
        assert rows(done.stdout)["reading"] == "reading 0 of 0 - - -"
        # the first reading costs more
        claude.respond = answering(right)
        done = evaluate("--max-cost=0.000001")
        assert (done.returncode, len(claude.requests)) == (1, 1)
        assert rows(done.stdout)["Not read"].startswith("Not read: 7 merges")

    def test_five_failures_in_a_row_end_it(self, evaluate: Run, claude: ClaudeEmulator) -> None:
        claude.respond = answering(lambda _: {"suspicions": "none"})
        done = evaluate()
        assert done.stdout.count("the model's report was not usable\n") == 5
        assert done.stdout.count("not read, as 5 readings in a row failed\n") == 3

    @pytest.mark.parametrize(
        ("arguments", "key", "message"),
        [
            pytest.param((), False, "Set ANTHROPIC_API_KEY: a reading asks the model.", id="no-key"),
            pytest.param(
                ("--since=2025-02-01",), True, "There is no pair from 2025-02-01 to 2025-03-31", id="no-pair"
            ),
        ],
    )
    def test_what_can_not_be_done_is_one_sentence(
        self,
        evaluate: Run,
        arguments: tuple[str, ...],
        message: str,
        *,
        key: bool,
    ) -> None:
        done = evaluate(*arguments, key=key)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        sentence = done.stderr.strip().removeprefix("Error: ")
        assert is_one_sentence(sentence.removesuffix("Run `prdigest doctor` for the full list.").strip())


class TestWithoutAKey:
    @pytest.fixture
    def folder(self, collected_pairs: Path, tmp_path: Path) -> Path:
        shutil.copytree(collected_pairs, tmp_path, dirs_exist_ok=True)
        return tmp_path / "pairs"

    def test_prompts_are_those_of_the_bot(self, folder: Path, evaluate: Run, claude: ClaudeEmulator) -> None:
        evaluate()
        sent = {find_number(json.dumps(body["messages"][0])): body for body in claude.requests}
        assert sorted(sent) == EVERY
        for prompt in _read_prompts(folder):
            body = sent[find_number(prompt["user"])]
            assert prompt["user"] in [block["text"] for block in body["messages"][0]["content"]]
            assert prompt["system"] in [block["text"] for block in body["system"]]
            assert [tool["name"] for tool in prompt["tools"]] == [tool["name"] for tool in body["tools"]]
            assert (prompt["model"], prompt["max_tokens"]) == (body["model"], body["max_tokens"])

    def test_nothing_for_readers_says_what_was_repaired(self, folder: Path) -> None:
        key = json.loads((folder.parent / "pairs-key.json").read_text())
        assert {pair["repaired"]["number"] for pair in key["pairs"]} == set(BROKEN)
        later = [f"#{100 + number}" for number in BROKEN]
        for path in (path for path in folder.rglob("*.json")):
            text = path.read_text()
            assert not any(word in text.lower() for word in ("revert", "repaired", *later)), path
        shapes = {
            tuple(json.loads(path.read_text()))
            for name in ("prompts", "merges")
            for path in (folder / name).iterdir()
        }
        assert len(shapes) == 2
        order = [find_number(prompt["user"]) for prompt in _read_prompts(folder)]
        assert sorted(order) == EVERY
        assert order not in (EVERY, [*BROKEN, *SOUND], [*SOUND, *BROKEN])

    def test_answers_get_the_same_figures_as_a_model(self, folder: Path, evals: Run) -> None:
        prompts = _read_prompts(folder)
        for prompt in prompts:
            _write_answer(folder, prompt, right(find_number(prompt["user"])))
        done = evals("score", str(folder))
        assert (done.returncode, done.stderr) == (0, "")
        assert rows(done.stdout)["reading"] == "reading 4 of 4, 100 % [51 %, 100 %] 0 1.000"
        # two mistakes: one that the bot would refuse, and one that is missing
        _write_answer(folder, prompts[0], {"suspicions": 7, "recognised": "no"})
        (folder / "answers" / f"{prompts[1]['prompt']:03}.json").unlink()
        done = evals("score", str(folder))
        assert done.returncode == 1
        assert "the report was refused: Your report was refused: suspicions" in done.stdout
        assert f"#{find_number(prompts[1]['user'])}: there is no answer\n" in done.stdout

    def test_a_quote_counts_if_the_reader_has_seen_it(self, folder: Path, evals: Run) -> None:
        """The caller is in another file, which only a tool shows."""
        for prompt in _read_prompts(folder):
            number = find_number(prompt["user"])
            report = report_bug(number, path="engine/batch.py", quote="def split_all(batch):")
            _write_answer(folder, prompt, report if number in BROKEN else NOTHING)
        assert rows(evals("score", str(folder)).stdout)["Confirmed"].startswith("Confirmed findings: 0, 0 ")
        broken = next(each for each in _read_prompts(folder) if find_number(each["user"]) == BROKEN[0])
        used = evals(
            "tool", str(folder), str(broken["prompt"]), "find_uses", "split_all", "read_file", '{"path": "no.py"}'
        )
        assert (used.returncode, used.stderr) == (0, "")
        assert "engine/batch.py:1: " in used.stdout
        assert "no.py" in used.stdout
        assert used.stdout.count("<data ") == 2
        assert rows(evals("score", str(folder)).stdout)["Confirmed"].startswith("Confirmed findings: 1, 1 ")

    def test_tools_have_the_limits_of_the_bot(self, folder: Path, evals: Run) -> None:
        call = ("tool", str(folder), "1", "read_file", "engine/batch.py")
        outputs = [evals(*call).stdout for _ in range(4)]
        assert ["No more tools" in each for each in outputs] == [False, False, False, True]
        late = evals(*call)
        assert (late.returncode, late.stdout) == (1, "")
        assert "No more tools: write the report now." in late.stderr
        calls = json.loads((folder / "calls" / "001.json").read_text())
        assert len(calls["rounds"]) == 4

    def test_an_answer_to_another_prompt_is_refused(self, folder: Path, evals: Run) -> None:
        for prompt in _read_prompts(folder):
            _write_answer(folder, prompt, NOTHING)
        path = folder / "prompts" / "003.json"
        path.write_text(path.read_text().replace("The author says why", "The author knows why"))
        done = evals("score", str(folder))
        assert (done.returncode, done.stdout) == (1, "")
        assert "prompts/003.json is not what the bot would send now" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            pytest.param(("score", "{empty}"), "has no prompts: begin with collect", id="no-prompts"),
            pytest.param(("collect", "{folder}", "--clone={clone}", *DATES), "has prompts already", id="twice"),
            pytest.param(("tool", "{folder}", "99", "find_uses", "x"), "There is no prompt 99", id="no-prompt"),
            pytest.param(("tool", "{folder}", "1", "find_uses"), "a tool and its arguments", id="no-arguments"),
            pytest.param(("tool", "{folder}", "1", "find_uses", "{"), "find_uses are no JSON", id="no-json"),
        ],
    )
    def test_what_can_not_be_done_is_one_sentence(
        self,
        folder: Path,
        clone: Path,
        tmp_path: Path,
        evals: Run,
        arguments: tuple[str, ...],
        message: str,
    ) -> None:
        places = {"{empty}": str(tmp_path / "empty"), "{folder}": str(folder), "{clone}": str(clone)}
        for name, place in places.items():
            arguments = tuple(each.replace(name, place) for each in arguments)
        done = evals(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr


def _read_prompts(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((folder / "prompts").iterdir())]


def _write_answer(folder: Path, prompt: dict[str, Any], report: dict[str, Any]) -> None:
    (folder / "answers" / f"{prompt['prompt']:03}.json").write_text(json.dumps(report))
