"""``prdigest upgrade`` as a person runs it, on two small repositories."""

import json
from pathlib import Path

import pytest

from impact.testing.clones import building, git, needs_git
from tests.cli.conftest import Call
from tests.helpers.checks import is_one_sentence

pytestmark = [pytest.mark.slow, needs_git]

COMMAND = ("upgrade",)
OLD = b"def run(a):\n    return a\n\n\ndef keep(a):\n    return a\n\n\ndef walk(a):\n    return a\n"
NEW = OLD.replace(b"def run(a)", b"def start(a, b)").replace(
    b"    return a\n\n\ndef keep", b"    return a * b\n\n\ndef keep"
)


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, str]]:
    """An upstream with a break, a change that is reverted, and a regression; and what is built on it."""
    folder = tmp_path_factory.mktemp("upgrade")
    upstream, downstream, shas = folder / "engine", folder / "ours", {}
    with building(upstream) as builder:
        marks = {
            "pin": builder.commit("Begin (#1)", {"engine/__init__.py": b"", "engine/core.py": OLD}),
            "quiet": builder.commit("Write it down (#2)", {"README.md": b"Engine\n"}),
            "gone": builder.commit("Drop walk (#3)", {"engine/core.py": OLD[: OLD.index(b"\n\ndef walk")]}),
            "back": builder.commit('Revert "Drop walk" (#4)\n\nReverts octo/engine#3', {"engine/core.py": OLD}),
            "break": builder.commit("Start (#5)", {"engine/core.py": NEW}),
            "repair": builder.commit("Fix a regression from #5 (#6)", {"README.md": b"Engine two\n"}),
        }
        shas = {name: builder.sha(mark) for name, mark in marks.items()}
    git(upstream, "remote", "add", "origin", "https://github.com/octo/engine.git")
    # of a branch of the release, with a commit of its own
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    own = git(upstream, *name, "commit-tree", f"{shas['quiet']}^{{tree}}", "-p", shas["quiet"], "-m", "Cut it")
    git(upstream, *name, "tag", "-a", "v1.0.0", "-m", "Out", own)
    with building(downstream) as builder:
        code = b"from engine.core import keep, run, walk\n\nprint(run(1), walk(2), keep(3))\n"
        builder.commit("Begin", {"ours/app.py": code})
    return upstream, downstream, shas


def test_the_plan_says_what_is_left_to_do(clones: tuple[Path, Path, dict[str, str]], call_command: Call) -> None:
    upstream, downstream, shas = clones
    done = call_command(
        *COMMAND,
        f"--upstream={upstream}",
        f"--from={shas['pin']}",
        f"--to={shas['break']}",
        f"--profile={downstream}",
        settings={},
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = done.stdout
    assert "1 of 4 merges breaks 1 of your files; checked against" in text
    assert " breaks: " in text
    assert "engine.core.run" in text
    # the last commit before the break, and the regression that is repaired later
    assert f"[{shas['back'][:10]}](https://github.com/octo/engine/commit/{shas['back']}), before [#5]" in text
    assert "Known regressions that the end still has\n\n- [ ] [#5]" in text
    # taken back on the way
    assert "engine.core.walk" not in text
    options = (f"--upstream={upstream}", f"--from={shas['pin']}", f"--profile={downstream}")
    assert "Known regressions" not in call_command(*COMMAND, *options, settings={}).stdout


def test_the_plan_as_json_says_first_what_was_not_read(
    clones: tuple[Path, Path, dict[str, str]], call_command: Call
) -> None:
    upstream, downstream, shas = clones
    options = (
        f"--upstream={upstream}",
        f"--from={shas['pin']}",
        f"--to={shas['break']}",
        f"--profile={downstream}",
    )
    done = call_command(*COMMAND, *options, "--json", settings={})
    assert (done.returncode, done.stderr) == (0, "")
    plan = json.loads(done.stdout)
    assert [*plan.items()][:2] == [("not_read", None), ("schema", 1)]
    [work] = plan["files"]
    assert (work["path"], work["items"][0]["merges"][0]["pr"]) == ("ours/app.py", 5)
    assert [(stop["commit"], stop["pr"]) for stop in plan["stops"]] == [(shas["back"], 5)]


def test_a_tag_of_a_release_branch_is_a_pin(clones: tuple[Path, Path, dict[str, str]], call_command: Call) -> None:
    upstream, downstream, shas = clones
    options = (f"--upstream={upstream}", "--from=v1.0.0", f"--profile={downstream}")
    done = call_command(*COMMAND, *options, settings={})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"# Upgrade ours: v1.0.0 ({shas['quiet'][:10]}) to {shas['repair'][:10]}")
    assert " breaks: " in done.stdout


def test_net_changes_leave_out_what_was_taken_back(
    clones: tuple[Path, Path, dict[str, str]], call_command: Call
) -> None:
    options = ("contract", f"--clone={clones[0]}", "--since=2025-01-06", "--until=2025-01-07")
    every, net = (call_command(*options, *more, settings={}) for more in ((), ("--net",)))
    assert (every.returncode, net.returncode, net.stderr) == (0, 0, "")
    assert "engine.core.walk" in every.stdout
    assert "engine.core.walk" not in net.stdout
    assert "engine.core.run" in net.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--from=0123456789",),
        ("--from=v9.9.9",),
        ("--from={break}", "--to={pin}"),
        ("--from={pin}", "--profile=nobody"),
        ("--from={pin}", "--profile=nobody", "--at={pin}"),
    ],
)
def test_mistakes_are_explained(
    clones: tuple[Path, Path, dict[str, str]], call_command: Call, options: tuple[str, ...]
) -> None:
    upstream, downstream, shas = clones
    arguments = [option.format(**shas) for option in options]
    done = call_command(*COMMAND, f"--upstream={upstream}", f"--profile={downstream}", *arguments, settings={})
    assert done.returncode
    assert is_one_sentence(done.stderr.strip())
