"""Each command over two small repositories: upstream changes what the downstream uses."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from impact.cli import _annotate, main
from impact.testing.checks import check_rows
from impact.testing.clones import BEGIN, building, git, needs_checker, needs_git
from impact.text.strings import escape_invisible

pytestmark = needs_git

WEEK = timedelta(days=7)
LONG_BEFORE = BEGIN - WEEK
DATES = ["--since", "2025-01-06", "--until", "2025-01-07"]
BEFORE = b"def run(tokens):\n    return tokens\n\n\ndef stop():\n    return None\n"
AFTER = b"def run(tokens, limit):\n    return tokens[:limit]\n\n\ndef stop():\n    return None\n"
OURS = b"from engine.core import run, stop\n\n\ndef serve():\n    stop()\n    return run([1])\n"
TRACE = "TypeError: run() missing 1 required positional argument: 'limit'\n"


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clones")
    with building(folder / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", "engine/core.py": BEFORE}, at=LONG_BEFORE)
        builder.commit("Limit a run (#2)", {"engine/core.py": AFTER}, at=BEGIN)
        builder.commit("Drop stop (#3)", {"engine/core.py": AFTER.partition(b"\n\n\n")[0] + b"\n"})
        builder.commit('Revert "Drop stop" (#4)\n\nReverts octo/engine#3', {"engine/core.py": AFTER})
    with building(folder / "ours") as builder:
        builder.commit("Serve", {"app/serve.py": OURS}, at=LONG_BEFORE)
        builder.commit(
            "Adapt to octo/engine#2", {"app/serve.py": OURS.replace(b"[1]", b"[1], 1")}, at=BEGIN + WEEK
        )
    return folder


def run(*arguments: str | Path) -> Any:
    result = CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refuse(*arguments: str | Path) -> str:
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 1
    return result.stderr


def find_commit(clone: Path, message: str) -> str:
    line = ["git", "-C", str(clone), "log", "--all", "--format=%H", f"--grep={message}"]
    return subprocess.run(line, capture_output=True, check=True, text=True).stdout.strip()


def write_profile(clones: Path, folder: Path) -> Path:
    """Write the profile of the downstream's first commit."""
    tree = folder / "tree"
    (tree / "app").mkdir(parents=True)
    (tree / "app" / "serve.py").write_bytes(OURS)
    profile = run("scan", tree, "--upstream", clones / "engine", "--name", "ours")
    file = folder / "ours.json"
    file.write_text(json.dumps(profile))
    return file


def test_contract_lists_what_merges_change(clones: Path) -> None:
    document = run("contract", "--clone", clones / "engine", *DATES)
    assert (document["not_read"], document["unread"]) == (None, [])
    rows = document["changes"]
    assert [(row["pr"], row["kind"], row["name"]) for row in rows if row["pr"] > 1] == [
        (3, "removed", "engine.core.stop"),
        (2, "signature", "engine.core.run"),
    ]
    assert rows[1]["url"].startswith("https://github.com/octo/engine/blob/")


def test_contract_leaves_out_what_was_taken_back(clones: Path) -> None:
    rows = run("contract", "--clone", clones / "engine", "--net", *DATES)["changes"]
    assert "removed" not in {row["kind"] for row in rows}


def test_scan_lists_the_uses_of_a_folder(clones: Path, tmp_path: Path) -> None:
    profile = json.loads(write_profile(clones, tmp_path).read_text())
    assert (profile["name"], profile["packages"]) == ("ours", ["engine"])
    assert {(use["kind"], use["name"]) for use in profile["uses"]} >= {("calls", "engine.core.run")}


def test_touches_have_a_row_for_each_commit_also_for_those_that_do_nothing(clones: Path, tmp_path: Path) -> None:
    file = write_profile(clones, tmp_path)
    report = run("touches", "--upstream", clones / "engine", "--profile", file, *DATES)
    assert [*report][:2] == ["not_read", "schema"]
    assert (report["not_read"], report["schema"]) == (None, 1)
    rows = report["commits"]
    assert [(row["pr"], row["level"], row["reverted_by"]) for row in rows.values()] == [
        (2, "breaks", None),
        (3, "breaks", 4),
        (4, "no", None),
    ]
    assert all(key == row["commit"] for key, row in rows.items())
    touch = next(iter(rows.values()))["touches"][0]
    assert touch["change"]["class"] == "function"
    assert [(use["path"], use["line"]) for use in touch["uses"]] == [("app/serve.py", 6)]


def test_touches_take_hashes_or_a_range_and_a_clone_in_place_of_a_profile(clones: Path) -> None:
    at = find_commit(clones / "ours", "Serve")
    sides = ("--upstream", clones / "engine", "--downstream", clones / "ours", "--at", at)
    first, second, third = (find_commit(clones / "engine", text) for text in ("Begin", "Limit", "^Drop"))
    ranged = run("touches", *sides, f"{first}..{third[:10]}")
    assert (ranged["downstream"], ranged["base"]) == (at, first)
    assert [*ranged["commits"]] == [second, third]
    assert run("touches", *sides, third, second[:12], second) == ranged
    assert [*run("touches", *sides, third)["commits"]] == [third]
    assert run("touches", *sides, "--from", first, third)["base"] == first
    assert "is no commit and no tag" in refuse("touches", *sides, second, "c0ffee1")
    assert "no commit to judge" in refuse("touches", *sides, f"{third}..{third}")
    assert "exchange them" in refuse("touches", *sides, f"{third}..{first}")
    assert "either commits or" in refuse("touches", *sides)


def test_a_commit_that_could_not_be_read_is_not_said_to_do_nothing(tmp_path: Path) -> None:
    with building(tmp_path / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", "engine/core.py": BEFORE})
        builder.commit("Grow (#2)", {"engine/core.py": BEFORE + b"#" * 500_001})
    with building(tmp_path / "ours") as builder:
        builder.commit("Serve", {"app/serve.py": OURS, "app/large.py": b"#" * 500_001})
    sides = ("--upstream", tmp_path / "engine", "--downstream", tmp_path / "ours")
    report = run("touches", *sides, find_commit(tmp_path / "engine", "Grow"))
    [row] = report["commits"].values()
    assert (row["level"], row["not_read"]) == (
        None,
        "I couldn't read 1 of 1 changed files (core.py: it is too large), so I can't tell.",
    )
    assert "1 of 2 files of your code" in report["not_read"]
    assert [each["path"] for each in report["unread"]] == ["engine/core.py"]


REASONED = b'''"""Serve on small machines."""
import engine.core
from engine.core import run, stop  # both are old


def limit(tokens):
    """Keep the first ones.

    More of it.
    """
    # a larger one does not fit
    # into memory
    return engine.core.run(tokens)


def plain():
    return stop()


engine.core.run = limit
'''


def test_uses_are_listed_by_kind_with_why_they_stand_there(tmp_path: Path) -> None:
    with building(tmp_path / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", "engine/core.py": BEFORE})
    with building(tmp_path / "ours") as builder:
        builder.commit("Serve", {"app/serve.py": REASONED})
    sides = ("--upstream", tmp_path / "engine", "--downstream", tmp_path / "ours")
    calls = run("uses", *sides, "--kind", "call")["uses"]
    assert [(use["line"], use["name"], use["why"]) for use in calls] == [
        (13, "engine.core.run", "a larger one does not fit into memory"),
        (17, "engine.core.stop", ""),
    ]
    [patch] = run("uses", *sides, "--kind", "patch")["uses"]
    assert (patch["kind"], patch["line"], patch["why"]) == ("replaces", 20, "Keep the first ones.")
    named = run("uses", *sides, "--name", "core.stop")["uses"]
    assert [(use["line"], use["kind"], use["why"]) for use in named] == [
        (3, "imports", "both are old"),
        (17, "calls", ""),
    ]


def test_a_guide_has_what_it_takes_to_adapt_to_a_commit(tmp_path: Path) -> None:
    caller = b"from engine.core import run\n\n\ndef main():\n    return run([1])\n"
    message = "Limit a run (#2)\n\nRuns were endless.\n\n## Migration\n\nPass `limit`.\n\n## Tests\n\nAll green."
    with building(tmp_path / "engine") as builder:
        begin = {"engine/__init__.py": b"", "engine/core.py": BEFORE, "engine/main.py": caller}
        builder.commit("Begin (#1)", begin)
        changed = {"engine/core.py": AFTER, "engine/main.py": caller.replace(b"[1]", b"[1], 1")}
        builder.commit(message, {**changed, "tests/test_core.py": b"LIMIT = 1\n"})
    with building(tmp_path / "ours") as builder:
        test = b"from engine.core import run\n\n\ndef test_run():\n    assert run([])\n"
        builder.commit("Serve", {"app/serve.py": OURS, "tests/test_serve.py": test})
    sides = ("--upstream", tmp_path / "engine", "--downstream", tmp_path / "ours")
    [guide] = run("guide", *sides, find_commit(tmp_path / "engine", "Limit"))["guides"]
    assert (guide["pr"], guide["level"]) == (2, "breaks")
    assert [(each["name"], each["kind"]) for each in guide["changes"]] == [("engine.core.run", "signature")]
    assert [(use["path"], use["line"]) for use in guide["touches"][0]["uses"]] == [
        ("app/serve.py", 6),
        ("tests/test_serve.py", 5),
    ]
    [migration] = guide["migrations"]
    assert (migration["path"], migration["after"].strip()) == ("engine/main.py", "return run([1], 1)")
    assert guide["advice"] == "## Migration\n\nPass `limit`."
    assert (guide["our_tests"], guide["upstream_tests"]) == (["tests/test_serve.py:1"], ["tests/test_core.py"])


@needs_checker
def test_a_type_checker_judges_a_clone_beside_the_rules(clones: Path) -> None:
    at = find_commit(clones / "ours", "Serve")
    report = run(*_touches(clones, at))
    assert report["judges"] == "A type checker judged beside the rules, in 1 of your files."
    # both say it of each: nothing is more certain, and nothing is said twice
    breaking = [
        (
            merge["pr"],
            [use["line"] for each in merge["touches"] if each["level"] == "breaks" for use in each["uses"]],
        )
        for merge in report["commits"].values()
        if merge["level"] == "breaks"
    ]
    assert sorted(breaking) == [(2, [6]), (3, [1, 5])]
    first = find_commit(clones / "engine", "Begin (#1)")
    way: list[str | Path] = [
        "--upstream",
        clones / "engine",
        "--from",
        first,
        "--downstream",
        clones / "ours",
        "--at",
        at,
    ]
    plan = run("upgrade", *way)
    assert (plan["judges"], [work["level"] for work in plan["files"]]) == (report["judges"], ["breaks"])
    dates = ["--since", "2025-01-06", "--until", "2025-01-07"]
    clones_of_both: list[str | Path] = ["--upstream", clones / "engine", "--downstream", clones / "ours"]
    levels = run("evaluate", *clones_of_both, *dates, "--processes", "1", "--checker")["levels"]
    assert levels == run("evaluate", *clones_of_both, *dates, "--processes", "1")["levels"]


def _touches(clones: Path, at: str) -> list[str | Path]:
    return ["touches", "--upstream", clones / "engine", "--downstream", clones / "ours", "--at", at, *DATES]


def test_broke_names_the_merge_behind_an_error(clones: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(TRACE)
    first = find_commit(clones / "engine", "Begin")
    report = run("broke", "--upstream", clones / "engine", "--from", first, "--downstream", clones / "ours", trace)
    assert report["merges"] == 3
    assert report["suspects"][0]["pr"] == 2
    assert report["suspects"][0]["change"]["name"] == "engine.core.run"


def test_upgrade_says_what_the_way_to_a_later_commit_takes(clones: Path, tmp_path: Path) -> None:
    file = write_profile(clones, tmp_path)
    first = find_commit(clones / "engine", "Begin")
    plan = run("upgrade", "--upstream", clones / "engine", "--from", first, "--profile", file)
    assert (plan["merges"], plan["start"]) == (3, first)
    [work] = plan["files"]
    assert (work["path"], work["level"]) == ("app/serve.py", "breaks")
    assert [merge["pr"] for merge in work["items"][0]["merges"]] == [2]


def test_evaluate_measures_the_past(clones: Path) -> None:
    figures = run(
        "evaluate",
        "--upstream",
        clones / "engine",
        "--downstream",
        clones / "ours",
        *DATES[:1],
        "2025-01-06",
        "--until",
        "2025-01-19",
    )
    assert (figures["name"], figures["cases"], figures["named"]) == ("ours", 3, 1)


def test_what_is_wrong_is_said_in_a_sentence(clones: Path, tmp_path: Path) -> None:
    engine, start = clones / "engine", ["--from", "HEAD"]
    assert "is not a git clone" in refuse("contract", "--clone", tmp_path, *DATES)
    assert "exchange the dates" in refuse(
        "contract", "--clone", engine, "--since", "2025-02-02", "--until", "2025-02-01"
    )
    assert "either --profile" in refuse("upgrade", "--upstream", engine, *start)
    assert "pass --package or --upstream" in refuse("scan", tmp_path)
    missing = refuse("upgrade", "--upstream", engine, *start, "--profile", tmp_path / "none.json")
    assert "can't be read" in missing


def test_it_runs_where_there_is_no_bot(clones: Path) -> None:
    arguments = ["contract", "--clone", str(clones / "engine"), *DATES]
    code = f"""
import sys
sys.modules.update(dict.fromkeys(("bot", "handlers", "redis", "slack_sdk", "slack_bolt", "anthropic", "github")))
from impact.cli import _annotate, main
main({arguments!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert len(json.loads(done.stdout)["changes"]) == 2


@check_rows([*"\u202e\u2066\u2069\u200b\u200f\x7f\x9b\xad\ufeff\U000e0041\u2028"])
def test_what_turns_a_line_around_is_escaped_and_stays_the_same(sign: str) -> None:
    text = escape_invisible(json.dumps({"a": f"x{sign}y\u200dé"}, ensure_ascii=False))
    assert sign not in text
    assert json.loads(text) == {"a": f"x{sign}y\u200dé"}


def test_a_hidden_sign_of_upstream_is_printed_escaped(tmp_path: Path) -> None:
    with building(tmp_path / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", "engine/core.py": b"X = 'a'\n"}, at=LONG_BEFORE)
        builder.commit("Turn (#2)", {"engine/core.py": "X = '\u202ea'\n".encode()}, at=BEGIN)
    arguments = ["contract", "--clone", str(tmp_path / "engine"), *DATES]
    output = CliRunner().invoke(main, arguments, catch_exceptions=False).stdout
    assert "\u202e" not in output
    assert json.loads(output)["changes"][0]["after"] == "X = '\u202ea'"


# --- the check of a change before it is merged


@pytest.fixture(scope="module")
def proposed(clones: Path) -> tuple[str, str]:
    """A branch of upstream beside its line, and the commit that it is to be merged into."""
    engine = clones / "engine"
    base = find_commit(engine, "Begin")
    tree = git(engine, "rev-parse", f"{find_commit(engine, 'Limit a run')}^{{tree}}")
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return base, git(engine, *identity, "commit-tree", "-p", base, "-m", "Limit a run", tree)


def check(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["check", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code != 1, result.stderr
    return result.exit_code, result.stdout


def test_a_change_that_breaks_ends_with_its_own_status(clones: Path, proposed: tuple[str, str]) -> None:
    base, head = proposed
    sides = ("--upstream", clones / "engine", "--base", base, "--head", head)
    ours = ("--downstream", clones / "ours", "--at", find_commit(clones / "ours", "Serve"), "--no-checker")
    status, text = check(*sides, *ours)
    assert status == 3
    assert text.splitlines()[0].startswith("engine/core.py:1: app/serve.py:6 must pass `limit`")
    assert check(*sides, *ours, "--fail-on", "never") == (0, text)
    # the other way round it is gone again
    back = ("--upstream", clones / "engine", "--base", head, "--head", base)
    assert check(*back, *ours)[0] == 0
    status, text = check(*sides, *ours, "--format", "json")
    assert (status, json.loads(text)["commits"][head]["level"]) == (3, "breaks")


@pytest.mark.parametrize("is_ours", [True, False])
def test_it_annotates_the_line_of_who_runs_it(
    clones: Path, proposed: tuple[str, str], tmp_path: Path, *, is_ours: bool
) -> None:
    sides = ("--upstream", clones / "engine", "--base", proposed[0], "--head", proposed[1], "--format", "github")
    at = ("--downstream", clones / "ours", "--at", find_commit(clones / "ours", "Serve"))
    if is_ours:
        status, text = check(*sides, *at, "--no-checker")
    else:
        serve = tmp_path / "ours" / "app"
        serve.mkdir(parents=True)
        (serve / "serve.py").write_bytes(OURS)
        scanned = CliRunner().invoke(main, ["scan", str(tmp_path / "ours"), "--upstream", str(clones / "engine")])
        (tmp_path / "profile.json").write_text(scanned.stdout)
        status, text = check(*sides, "--profile", tmp_path / "profile.json")
    place = "app/serve.py,line=6" if is_ours else "engine/core.py,line=1"
    assert (status, text.splitlines()[0].partition("::app")[0]) == (3, f"::error file={place}")


def test_a_text_ends_no_annotation() -> None:
    assert _annotate("error", "a\r\n::set-env 100%", "b,c:d\n", 0) == (
        "::error file=b%2Cc%3Ad%0A,line=1::a%0D%0A::set-env 100%25"
    )


def test_a_commit_that_is_not_there_is_named(clones: Path) -> None:
    told = refuse("check", "--upstream", clones / "engine", "--base", "a" * 40, "--downstream", clones / "ours")
    assert "has no commit 'aaaa" in told
