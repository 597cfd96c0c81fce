"""``python -m evals trial``: the bot's prompts, texts that hide whose they are, and the arithmetic."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UsageError
from bot.features.digest.view import render_report
from bot.platform.markdown import escape_text
from evals.trial.folder import Pair, Side, TrialFolder, TrialPull
from evals.trial.pairing import make_key, make_pair, normalise_text, parse_report
from evals.trial.prompts import choose_numbers
from evals.trial.verdicts import (
    LEFT_OUT,
    Judged,
    Statement,
    StatementKind,
    TrialScore,
    format_score,
    keep_words,
    load_judged,
)
from tests.emulators.claude.script import summary_answer
from tests.emulators.claude.server import Json
from tests.emulators.github.store import sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.evals.trial_day import (
    DATE,
    GOLDEN_ENTRY,
    NUMBERS,
    SOURCE,
    TrialDay,
    read,
    write,
    write_day,
    write_verdict,
)
from tests.helpers.builders import changed_file, digest, entry, pull, summary
from tests.helpers.processes.command import ROOT, Caught
from tests.helpers.tables import check_rows
from tests.helpers.world import SMALL_DAY, World, world

OURS = "Retries are bounded by the new limit."


def evals(there: World | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, with the keys of the emulators, or without any."""
    return Caught(
        "trial", *arguments, settings=there.settings if there else {}, folder=ROOT, module="evals"
    ).await_end()


@pytest.fixture
def day(tmp_path: Path) -> TrialDay:
    return write_day(tmp_path)


@pytest.mark.slow
class TestPrompts:
    def test_of_records(self, day: TrialDay, tmp_path: Path) -> None:
        with world("") as there:
            there.github.load_replay(day.records / DATE)
            sent = self.prompts_of_the_bot(there, tmp_path)
        done = evals(None, "collect", str(tmp_path / "trial"), *day.collect_options, "--sample=3")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{DATE}: 3 of 3 merged pull requests\n3 prompts, 3 without an answer")
        assert self.collect_prompts(tmp_path / "trial") == sent
        assert all("What the author says" in user and "bug, core" in user for user in self.users(sent))

    def test_of_github_with_whole_files(self, day: TrialDay, tmp_path: Path) -> None:
        with world("") as there:
            there.github.load_replay(day.records / DATE)
            for number in NUMBERS:
                files = {f"engine/retry_{number}.py": Entry(SOURCE.format(number).encode())}
                there.github.add_commit("octo/engine", TreeCommit(sha(f"merge {number}"), FixedTree(files)))
            sent = self.prompts_of_the_bot(there, tmp_path)
            where = ("collect", str(tmp_path / "trial"), "--github", f"--days={DATE}")
            done = evals(there, *where, *day.collect_options, "--sample=3")
        assert done.returncode == 0, done.stderr
        assert self.collect_prompts(tmp_path / "trial") == sent
        assert all("def count(self)" in user for user in self.users(sent))

    def prompts_of_the_bot(self, there: World, folder: Path) -> dict[int, bytes]:
        settings = {**there.settings, "PRDIGEST_STATE_DIR": str(folder), "REDIS_URL": ""}
        done = Caught("digest", *SMALL_DAY, "--dry-run", settings=settings, folder=ROOT).await_end()
        assert done.returncode == 0, done.stderr
        bodies = [body for body in there.claude.requests if "<pull_request" in body["messages"][0]["content"]]
        prompts = {}
        for body in bodies:
            user = body["messages"][0]["content"]
            parts = [
                body["model"],
                body["max_tokens"],
                body["system"],
                user,
                body["output_config"]["format"]["schema"],
            ]
            match = re.search(r"#(\d+): ", user)
            assert match
            prompts[int(match[1])] = json.dumps(parts).encode()
        return prompts

    def collect_prompts(self, trial: Path) -> dict[int, bytes]:
        names = ("model", "max_tokens", "system", "user", "schema")
        prompts = map(read, (trial / "prompts").glob("*.json"))
        return {prompt["number"]: json.dumps([prompt[name] for name in names]).encode() for prompt in prompts}

    def users(self, sent: dict[int, bytes]) -> list[str]:
        assert sorted(sent) == list(NUMBERS)
        return [json.loads(parts)[3] for parts in sent.values()]


def answer_like_us(body: dict[str, Any]) -> Json:
    quote = {"path": "engine/retry_101.py", "quote": "retries = 101  # 101"}
    text = summary_answer(what_changed_and_why=f"`Retry` counts: see https://e.org/x. {OURS}", evidence=[quote])
    return Json(text)


@pytest.mark.slow
class TestTrial:
    def test_from_prompts_to_the_score(self, day: TrialDay, tmp_path: Path) -> None:
        folder = tmp_path / "trial"
        where = f"{folder}"
        with world("") as there:
            there.claude.respond = answer_like_us
            done = evals(there, "collect", str(where), "--live", *day.collect_options)
        assert done.returncode == 0, done.stderr
        assert "2 prompts, 0 without an answer" in done.stdout
        done = evals(None, "pair", str(where), *day.pair_options)
        assert done.returncode == 0, done.stderr
        assert re.match(r"[01] of 2 quotes are in changed lines\n2 pairs", done.stdout)
        chosen = [each.number for each in TrialFolder(folder).read_trial().pulls]
        key = read(folder / "key.json")
        for number in chosen:
            self.check_pair(folder / "pairs" / f"{number}.json", number, key["first"][str(number)])
        # the same secret makes the same pairs
        before = self.contents(folder / "pairs")
        assert evals(None, "pair", str(where), *day.pair_options).returncode == 0
        assert self.contents(folder / "pairs") == before
        assert not any(key["secret"].encode() in data for data in before.values())

        write_verdict(folder, chosen[0], "ours", {"theirs": f"Retries of public report {chosen[0]} are bounded."})
        write_verdict(folder, chosen[1], "ours")
        done = evals(None, "score", str(where), f"--keep={tmp_path / 'kept.json'}")
        assert done.returncode == 0, done.stdout
        assert "2 pull requests: ours preferred 2, theirs 0, ties 0" in done.stdout
        assert "theirs: 1 false, 0 unsupported = 13.5 per 27" in done.stdout
        assert f'#{chosen[0]} false: "Retries of public report' in done.stdout
        kept = (tmp_path / "kept.json").read_text()
        assert "It names the limit." in kept
        assert "public report" not in kept
        assert OURS not in kept
        assert "retries =" not in kept

        write_verdict(folder, chosen[1], "theirs", {"ours": OURS})
        done = evals(None, "score", str(where))
        assert done.returncode == 1
        assert "ours, at most 6 per 27: FAILED" in done.stdout
        assert f'#{chosen[1]} false: "{OURS}": The limit is another. (engine/retry.py:3)' in done.stdout

    def check_pair(self, path: Path, number: int, first: str) -> None:
        pair = read(path)
        ours, theirs = (pair["A"], pair["B"]) if first == "ours" else (pair["B"], pair["A"])
        assert f"\nRetry counts: see {OURS}\n" in f"\n{ours}\n"
        assert "Potential risks\nNone.\n" in ours
        assert f"This PR counts the retries of engine/retry_{number}.py, all of them." in theirs
        assert f"public report {number} that wait may fail. Slower start.\n" in theirs
        assert f"See the guide of public report {number}." in theirs
        assert [line for line in ours.split("\n") if line in theirs.split("\n") and line][:4] == [
            "What changed and why",
            "Technical impact",
            "Potential risks",
            "Key insights",
        ]
        assert not re.search(r"[*`\[\]]|https?:|\u200d|ours|theirs", pair["A"] + pair["B"])
        assert pair["files"][0]["patch"].startswith("@@ -1,2 +1,3 @@")
        assert pair["description"].startswith("Retries were lost.")

    def contents(self, folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def test_answers_that_can_not_be_used_are_named(self, day: TrialDay, tmp_path: Path) -> None:
        folder = tmp_path / "trial"
        assert evals(None, "collect", str(folder), *day.collect_options).returncode == 0
        first, second = (each.number for each in TrialFolder(folder).read_trial().pulls)
        write(folder / "answers" / f"{first}.json", summary_answer())
        done = evals(None, "pair", str(folder), *day.pair_options)
        assert (done.returncode, done.stderr) == (1, f"Error: There is no answer about #{second}.\n")
        write(folder / "answers" / f"{second}.json", {"type": "SUBSTANTIAL"})
        done = evals(None, "pair", str(folder), *day.pair_options)
        assert done.returncode == 1
        assert f"answers/{second}.json: the model's answer can't be used (headline: Field required" in done.stderr
        assert f"answers/{first}.json" not in done.stderr
        # the record of the day is another one now
        write(folder / "answers" / f"{second}.json", summary_answer())
        file = day.records / DATE / "files" / f"{second}.json"
        file.write_text(file.read_text().replace("limit = 0", "limit = 1"))
        done = evals(None, "pair", str(folder), *day.pair_options)
        assert done.stderr == f"Error: The prompt has changed since it was collected about #{second}.\n"
        # and what was answered is not overwritten by other prompts
        done = evals(None, "collect", str(folder), *day.collect_options)
        assert "has a trial with other prompts: name a new folder." in done.stderr


WORDS = st.text(alphabet="ab c.", min_size=1, max_size=12)
SIDES = st.sampled_from(["ours", "theirs"])


def other(side: Side) -> Side:
    return "theirs" if side == "ours" else "ours"


@settings(max_examples=25)
@given(ours=WORDS, theirs=WORDS, first=SIDES)
def test_a_pair_is_the_same_whoever_wrote_which_text(ours: str, theirs: str, first: Side) -> None:
    """So nothing in it can say who did."""
    about = pull(7, files=[changed_file()])
    pair = make_pair(about, ours, theirs, first)
    assert pair.model_dump_json() == make_pair(about, theirs, ours, other(first)).model_dump_json()
    assert (pair.A if first == "ours" else pair.B) == ours


@settings(max_examples=25)
@given(numbers=st.sets(st.integers(1, 10**6), min_size=2, max_size=40), secret=st.uuids())
def test_the_key_depends_on_the_secret_alone_and_is_fair(numbers: set[int], secret: Any) -> None:
    key = make_key(sorted(numbers), str(secret))
    assert key == make_key(sorted(numbers, reverse=True), str(secret))
    sides = list(key.first.values())
    assert sides.count("ours") - sides.count("theirs") in (0, 1)


def test_other_secrets_order_otherwise() -> None:
    orders = {tuple(make_key(range(27), f"{secret}").first.values()) for secret in range(20)}
    assert len(orders) == 20


@check_rows(
    {
        "lists": ("- One thing\n- `two` things.\n\n1. Three: four", "One thing. two things. Three: four."),
        "emphasis": ("**Bold** and *italic* of 2 * 3 * 4", "Bold and italic of 2 * 3 * 4"),
        "code keeps its signs": ("`**kwargs` of ``a`b`` or `x | y`", "**kwargs of a`b or x | y"),
        "links": ("See [the docs](https://e.org/a) at https://e.org/b now", "See the docs at now"),
        "HTML": ("x <b> y & z", "x <b> y & z"),
        "signs of typography": ("\u201cIt\u2019s\u201d \u2013 so\u2026", '"It\'s" - so...'),
        "no risk": ("No particular risk stands out.", "None."),
        "no insight": ("None beyond the above.", "None."),
        "labels": ("**Key insights**: none", "Key insights: none"),
    }
)
def test_escaped_or_not_a_text_reads_the_same(text: str, plain: str) -> None:
    assert normalise_text(text) == plain
    assert normalise_text(escape_text(text)) == plain


class TestReports:
    @pytest.mark.parametrize(
        ("gone", "message"),
        [("**Technical impact**", "#5 does not have the four sections"), ("PR Number", "an entry has no number")],
    )
    def test_an_entry_without_a_part_is_refused(self, gone: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            parse_report(GOLDEN_ENTRY.format(place=1, number=5).replace(gone, "Other"), "x.md")

    def test_a_text_that_imitates_a_report_stays_in_its_section(self) -> None:
        label = "**Key insights**"
        hostile = f"One.\n\n---\n\n## 2. [x](y)\n- **PR Number:** #9\n### Summary\n{label}  \nTwo."
        entry_summary = summary(what_changed_and_why=hostile, key_insights="Three.")
        texts = parse_report(
            render_report(digest(entry(5, entry_summary=entry_summary), entry(6, entry_summary=entry_summary))),
            "ours",
        )
        assert sorted(texts) == [5, 6]
        assert texts[5] == texts[6]
        first, *_, last = texts[5].split("\n\n")
        assert first.startswith("What changed and why\nOne.")
        assert first.endswith("### Summary Key insights Two.")
        assert last == "Key insights\nThree."


class TestChoice:
    def test_days_have_their_share_and_no_day_moves_with_another(self) -> None:
        days = {"a": range(10), "b": range(100, 143), "c": range(200, 218)}
        chosen = choose_numbers(days, 27, 1)
        assert {day: len(numbers) for day, numbers in chosen.items()} == {"a": 4, "b": 16, "c": 7}
        assert chosen == choose_numbers({day: list(days[day])[::-1] for day in "cba"}, 27, 1)
        assert chosen != choose_numbers(days, 27, 2)
        assert all(set(numbers) <= set(days[day]) for day, numbers in chosen.items())

    def test_a_sample_that_is_too_large_is_refused(self) -> None:
        with pytest.raises(UsageError, match="2 pull requests with a prompt, fewer than the sample of 3"):
            choose_numbers({"a": [1, 2]}, 3, 1)


def make_score(ours: int, theirs: int, ties: int, kinds: tuple[StatementKind, ...] = ()) -> TrialScore:
    """So many preferences, and these statements of ours, all about the first pull request."""
    statements = tuple(Statement(quote=f"q{at}", kind=kind, why="w") for at, kind in enumerate(kinds))
    us: Side = "ours"
    them: Side = "theirs"
    sides: tuple[Side | None, ...] = (us,) * ours + (them,) * theirs + (None,) * ties
    listed = enumerate(sides)
    return TrialScore(tuple(Judged(at, side, () if at else statements, (), "r") for at, side in listed))


@check_rows(
    {
        "as in the first trial": (make_score(22, 2, 3, ("unsupported",) * 15), True, False),
        "six are allowed": (make_score(22, 2, 3, ("false", "unsupported") * 3), True, True),
        "seven are not": (make_score(22, 2, 3, ("false",) * 7), True, False),
        "what can't be checked does not count": (make_score(22, 2, 3, ("unchecked",) * 9), True, True),
        "ties count against us": (make_score(21, 0, 6), False, True),
        "exactly four in five": (make_score(4, 1, 0), True, True),
        "of nine, two are exactly the bound": (make_score(9, 0, 0, ("false",) * 2), True, True),
        "of nine, three are above it": (make_score(9, 0, 0, ("false",) * 3), True, False),
    }
)
def test_the_bounds(score: TrialScore, is_preferred: bool, is_supported: bool) -> None:
    assert (score.is_preferred, score.is_supported) == (is_preferred, is_supported)
    assert score.is_passed == (is_preferred and is_supported)


def test_the_lines_of_a_score() -> None:
    lines = list(format_score(make_score(22, 2, 3, ("false", "unsupported", "unchecked"))))
    assert lines[:6] == [
        "27 pull requests: ours preferred 22, theirs 2, ties 3",
        # 22 of 27 and 22 of 24 by R's binom::binom.wilson
        "ours preferred of all, ties against us: 22 of 27, 81.5% (95 % interval 63.3% to 91.8%); at least 80%: ok",
        "ours preferred, without ties: 22 of 24, 91.7% (95 % interval 74.2% to 97.7%)",
        "ours: 1 false, 1 unsupported = 2.0 per 27; 1 could not be checked and do not count",
        "theirs: 0 false, 0 unsupported = 0.0 per 27; 0 could not be checked and do not count",
        "ours, at most 6 per 27: ok",
    ]
    assert lines[6:] == [
        "\nFalse or unsupported, ours:",
        '  #0 false: "q0": w',
        '  #0 unsupported: "q1": w',
        "\nFalse or unsupported, theirs:",
        "  none",
    ]


GOOD = {"number": 7, "A": [], "B": [], "preferred": "tie", "reason": "Both say it."}
STATEMENT = {"quote": "limit is five", "kind": "false", "why": "It is six."}


@pytest.fixture(scope="module")
def judged_folder(tmp_path_factory: pytest.TempPathFactory) -> TrialFolder:
    folder = TrialFolder(tmp_path_factory.mktemp("trial"))
    trial = {
        "repository": "octo/engine",
        "timezone": "UTC",
        "source": "records",
        "instructions": "v",
        "sample": 1,
        "seed": 1,
        "merges": {DATE: 1},
        "pulls": [TrialPull(number=7, date=DATE, key="k").model_dump()],
    }
    write(folder.manifest, trial)
    write(folder.key, make_key([7], "secret").model_dump())
    texts = {"A": "The limit\nis five.", "B": "It waits."}
    pair = make_pair(pull(7), texts["A"], texts["B"], "ours")
    write(folder.get_file("pairs", 7), Pair.model_validate(pair.model_dump()).model_dump())
    return folder


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        pytest.param(None, "can't be used:\nverdicts/7.json is missing.", id="missing"),
        pytest.param("{", "verdicts/7.json can't be used: the file: Invalid JSON", id="no JSON"),
        pytest.param({**GOOD, "number": 8}, "verdicts/7.json is about #8.", id="another"),
        pytest.param({**GOOD, "preferred": "ours"}, "preferred: Input should be 'A', 'B' or 'tie'", id="side"),
        pytest.param({**GOOD, "reason": " "}, "reason: String should have at least 1", id="no reason"),
        pytest.param({**GOOD, "note": "x"}, "note: Extra inputs", id="unknown field"),
        pytest.param({name: GOOD[name] for name in GOOD if name != "B"}, "B: Field required", id="no list"),
        pytest.param({**GOOD, "A": [{**STATEMENT, "kind": "wrong"}]}, "A.0.kind: Input", id="kind"),
        pytest.param({**GOOD, "B": [STATEMENT]}, "quotes what is not in B: limit is five", id="not in B"),
        pytest.param({**GOOD, "A": [STATEMENT, STATEMENT]}, "has a quote of A twice: limit is five", id="twice"),
    ],
)
def test_a_malformed_verdict_is_named(judged_folder: TrialFolder, verdict: Any, message: str) -> None:
    path = judged_folder.get_file("verdicts", 7)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if verdict:
        path.write_text(verdict if isinstance(verdict, str) else json.dumps(verdict))
    with pytest.raises(UsageError, match=re.escape(message)):
        load_judged(judged_folder)


def test_a_good_verdict_is_read_and_a_stranger_is_named(judged_folder: TrialFolder) -> None:
    write(judged_folder.get_file("verdicts", 7), {**GOOD, "A": [STATEMENT], "preferred": "B"})
    (verdict,) = load_judged(judged_folder)
    first = make_key([7], "secret").first[7]
    assert verdict.preferred == other(first)
    assert [each.quote for each in (verdict.ours if first == "ours" else verdict.theirs)] == ["limit is five"]
    stranger = judged_folder.get_file("verdicts", 70)
    write(stranger, GOOD)
    with pytest.raises(UsageError, match=r"verdicts/70\.json belongs to no pair"):
        load_judged(judged_folder)
    stranger.unlink()


def test_words_that_repeat_a_text_are_not_kept() -> None:
    source = "the limit of all retries is five in every case that was seen"
    assert keep_words("It is six.", [source]) == "It is six."
    assert keep_words(f"It says: {source}", [source]) == LEFT_OUT
    assert keep_words("the limit of all retries  is six", [source]) == "the limit of all retries is six"
