import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.errors import UsageError
from impact.testing.clones import building, git, needs_git

pytestmark = [pytest.mark.slow, needs_git]

ERROR = "TypeError: Model.run() got an unexpected keyword argument 'size'"
FIRST = b"class Model:\n    def run(self, size=None):\n        return size\n"
SECOND = b"class Model:\n    def run(self):\n        return None\n"

QUEUE = b"class Queue:\n    def put(self, item):\n        return item\n"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with three merges, of which the second removes an argument."""
    folder = tmp_path_factory.mktemp("broke") / "clone"
    with building(folder) as builder:
        files = {"engine/__init__.py": b"", "engine/model.py": FIRST, "engine/queue.py": QUEUE}
        builder.commit("Begin (#1)", files)
        builder.commit("Change the engine (#2)", {"engine/model.py": SECOND})
        builder.commit("Go on (#3)", {"engine/queue.py": QUEUE.replace(b"item)", b"item, weight)")})
    return folder


def run(clone: Path, error: str, *options: str) -> str:
    first = git(clone, "rev-parse", "main~2")
    arguments = ["broke", "--upstream", str(clone), "--from", first[:10], *options]
    return CliRunner().invoke(cli, arguments, input=error, catch_exceptions=False, standalone_mode=False).output


def test_the_merge_that_explains_an_error_is_printed(clone: Path) -> None:
    output = run(clone, ERROR)
    assert "1 suspect among 2 merges" in output
    assert "1. #2 Change the engine" in output
    assert "It removes the argument `size` of `Model.run`." in output
    assert "engine/model.py:2" in output


def test_scripts_get_json(clone: Path) -> None:
    [suspect] = json.loads(run(clone, ERROR, "--json"))["suspects"]
    assert (suspect["pr"], suspect["change"]["name"]) == (2, "engine.model.Model.run")


def test_a_clone_says_what_a_class_of_ours_derives_from(clone: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    with building(ours) as builder:
        code = b"from engine.queue import Queue\n\n\nclass Lane(Queue):\n    def put(self, item):\n        pass\n"
        builder.commit("Begin", {"ours/lane.py": code})
    error = "TypeError: Lane.put() got an unexpected keyword argument 'weight'"
    options = ((), ("--downstream", str(ours)), ("--profile", str(ours)))
    plain, *known = (json.loads(run(clone, error, *each, "--json"))["suspects"] for each in options)
    for suspects in known:
        assert [each["pr"] for each in suspects] == [3]
        assert not plain or plain[0]["score"] < suspects[0]["score"]
    with pytest.raises(UsageError, match="no profile, file or clone"):
        run(clone, error, "--profile", "no such/profile")


def test_an_error_that_nothing_explains_has_no_suspect(clone: Path) -> None:
    assert "None of 2 merges" in run(clone, "KeyError: 'other_name'")


@pytest.mark.parametrize(
    ("error", "options"), [("", ()), (ERROR, ("--to", "c0ffee1")), (ERROR, ("--to", "2001-01-01"))]
)
def test_mistakes_are_refused_in_a_sentence(clone: Path, error: str, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(clone, error, *options)
