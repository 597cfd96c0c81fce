"""The files around a change are read where that is possible; the diff has to do elsewhere."""

from __future__ import annotations

import difflib
import json
import logging
from dataclasses import replace

import pytest

from bot.domain.errors import GitHubUnavailable, PrdigestError, RateLimited, SourceUnavailable
from bot.domain.pull_requests.models import PullRequest
from bot.services.summaries.source_reader import SourceReader
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.services.summaries.summarizer import Summariser
from tests.emulators.claude.server import summary_answer
from tests.helpers.builders import changed_file, pull
from tests.services.doubles import FileTree, MemoryCache, ScriptedModel, Sleeps

PATH = "engine/core.py"
OLD = ["import a", "", "def run(limit):", *(f"    step({n})" for n in range(20)), "    return limit"]
NEW = [*OLD[:12], "    other(9)", *OLD[13:]]
PATCH = "\n".join([*difflib.unified_diff(OLD, NEW, lineterm="")][2:])
TREE = {PATH: "\n".join(NEW) + "\n"}


def make_change(number: int = 1) -> PullRequest:
    return pull(number, files=[changed_file(PATH, 1, 1, patch=PATCH)])


def prompt_with(tree: FileTree | None, request: PullRequest) -> str:
    model = ScriptedModel.of(json.dumps(summary_answer()))
    completion = StructuredCompletion(model, MemoryCache(), Sleeps())
    reader = SourceReader(tree)
    Summariser(completion, "m", 30_000, read_sources=reader.read_sources).summarise_pull_request(request)
    return model.prompts[0].user


def test_a_model_gets_the_whole_function_at_the_merge_commit() -> None:
    tree, request = FileTree(TREE), make_change()
    prompt = prompt_with(tree, request)
    assert " def run(limit):" in prompt
    assert "     return limit" in prompt
    assert [(commit, paths) for commit, _, paths in tree.asked] == [(request.commit, (PATH,))]


def test_of_an_open_pull_request_the_head_is_read() -> None:
    tree = FileTree(TREE)
    request = replace(make_change(), merge_commit=None, merged_at=None, state="OPEN")
    prompt_with(tree, request)
    assert [commit for commit, *_ in tree.asked] == [request.head_commit]


@pytest.mark.parametrize(
    "error",
    [SourceUnavailable("no such commit"), GitHubUnavailable("away"), RateLimited("later", 900.0)],
    ids=lambda error: type(error).__name__,
)
def test_without_the_files_the_diff_has_to_do(error: PrdigestError, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "bot.services.summaries.source_reader"):
        prompt = prompt_with(FileTree(TREE, error), make_change(7))
    assert PATCH in prompt
    assert [record.getMessage() for record in caplog.records] == [
        f"octo/engine#7 is read without its files: {error}"
    ]


def test_where_there_are_no_files_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    assert PATCH in prompt_with(None, make_change())
    assert not caplog.records


def test_without_a_model_nothing_is_read() -> None:
    tree = FileTree(TREE)
    Summariser(None, "m", 30_000, read_sources=SourceReader(tree).read_sources).summarise_pull_request(
        make_change()
    )
    assert tree.asked == []
