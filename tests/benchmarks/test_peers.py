"""The comparison with another tool, without that tool: files, answers, environments, measurements and tables."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from benchmarks.peers.answers import OUR_ANSWER, answer_both, format_description
from benchmarks.peers.files import lay_hunks, make_commits
from benchmarks.peers.measurements import Meter, Run, Series, TimedGitHub
from benchmarks.peers.tables import format_comparison, format_pulls
from benchmarks.peers.tools import MODEL, Tool, make_ours, make_peer
from bot.usage import Usage
from impact.source.models import DiffSide
from tests.emulators.claude.server import ClaudeEmulator, Json, Text
from tests.emulators.github.store import changed_file, pull

PATCH = "@@ -2,2 +2,3 @@ def count():\n two\n-three\n+three!\n+more"
SCHEMA = {"type": "object", "properties": {"headline": {"type": "string"}}}
# asks both emulators once, as a tool does
ASKER = """
import http.client, json, sys
github, claude, number = sys.argv[1:]
asked = http.client.HTTPConnection(github)
asked.request("GET", "/repos/octo/engine/pulls/" + number, headers={"Authorization": "token ghp_test"})
assert asked.getresponse().status == 200, "no such pull request"
body = {"model": "claude-haiku-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "x" * 400}]}
asked = http.client.HTTPConnection(claude)
headers = {"x-api-key": "sk-ant-test", "anthropic-version": "2023-06-01"}
asked.request("POST", "/v1/messages", json.dumps(body), headers)
assert asked.getresponse().status == 200
"""


@pytest.mark.parametrize(
    ("side", "text", "expected_text"),
    [
        (DiffSide.NEW, "", "two\ntwo\nthree!\nmore"),
        (DiffSide.OLD, "", "two\ntwo\nthree"),
        (DiffSide.NEW, "one\n2\n3\n4\nfive", "one\ntwo\nthree!\nmore\nfive"),
        (DiffSide.OLD, "one\ntwo\nthree\nfour", "one\ntwo\nthree\nfour"),
    ],
)
def test_hunks_are_laid_over_a_text_at_their_lines(side: DiffSide, text: str, expected_text: str) -> None:
    assert lay_hunks(text, PATCH, side) == expected_text


def test_a_commit_has_the_files_of_its_side() -> None:
    files = [changed_file("a.py", PATCH), changed_file("new.py", "@@ -0,0 +1 @@\n+new", status="added")]
    record = pull(7, files=[*files, changed_file("old.py", "@@ -1 +0,0 @@\n-old", status="removed")])
    base, head, merge = make_commits(record, None)
    assert (base.oid, head.oid, merge.oid) == (record.base_sha, record.head_sha, record.merge_commit_sha)
    assert [path for path, *_ in base.tree.list_files()] == ["a.py", "old.py"]
    assert [path for path, *_ in merge.tree.list_files()] == ["a.py", "new.py"]


def test_the_model_answers_each_tool_in_its_form() -> None:
    messages = [{"role": "user", "content": "## File: 'src/a.py'\n\n@@ ...\n\n## File 'src/b.py' was deleted"}]
    answer = answer_both({"messages": messages})
    assert isinstance(answer, Text)
    document = yaml.safe_load(answer.text.removeprefix("```yaml\n").removesuffix("```"))
    assert [file["filename"] for file in document["pr_files"]] == ["src/a.py", "src/b.py"]
    ours = {"messages": messages, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    assert answer_both(ours) == Json(OUR_ANSWER)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_both_answers_have_about_one_length(count: int) -> None:
    text = format_description("\n".join(f"## File: 'src/part_{number}.py'" for number in range(count)))
    assert len(text) == pytest.approx(len(json.dumps(OUR_ANSWER)), rel=0.05)


def test_no_tool_is_led_off_the_loopback(tmp_path: Path) -> None:
    (tmp_path / "lib/python3.12/site-packages/litellm/litellm_core_utils/tokenizers").mkdir(parents=True)
    with TimedGitHub() as github, ClaudeEmulator() as claude:
        peer = make_peer(github, claude, tmp_path, "octo/engine", {"CONFIG__PUBLISH_OUTPUT": "false"})
        ours = make_ours(github, claude, "redis://127.0.0.1:1")
    for tool in (peer, ours):
        addresses = [value for value in tool.environment.values() if "://" in value]
        assert addresses
        assert all(address.partition("://")[2].startswith("127.0.0.1:") for address in addresses)
        assert tool.environment["https_proxy"] == "http://127.0.0.1:9"
    assert peer.list_arguments(7)[1:] == ["--pr_url=https://github.com/octo/engine/pull/7", "describe"]


def test_half_an_environment_is_named() -> None:
    with (
        TimedGitHub() as github,
        ClaudeEmulator() as claude,
        pytest.raises(SystemExit, match="no whole environment"),
    ):
        make_peer(github, claude, Path("empty"), "octo/engine", {})


@pytest.mark.slow
def test_a_run_is_measured_at_the_process_and_the_emulators() -> None:
    with TimedGitHub() as github, ClaudeEmulator() as claude:
        github.add("octo/engine", pull(7))
        places = (each.url.partition("://")[2] for each in (github, claude))
        tool = Tool("asker", (sys.executable, "-S", "-c", ASKER, *places, "{number}"), {})
        run = Meter(github, claude).measure(tool, 7)
        assert (run.number, run.github, run.model, run.usage.input) == (7, 1, 1, 100)
        assert 0 < run.start < run.seconds
        assert min(run.processor, run.megabytes) > 0
        with pytest.raises(SystemExit, match=r"asker failed on 8:(.|\n)*no such pull request"):
            Meter(github, claude).measure(tool, 8)


def make_run(number: int, factor: int) -> Run:
    usage = Usage(1_000 * factor, 100)
    return Run(number, float(factor), 0.5, 0.25 * factor, 100.0, 3 * factor, 1, usage)


def test_tables_have_both_tools_and_their_ratio() -> None:
    ours = Series("prdigest", [make_run(1, 1), make_run(2, 2), make_run(3, 6)])
    peer = Series("PR-Agent", [make_run(1, 2), make_run(2, 4), make_run(3, 12)])
    rows = {cells[0]: cells[1:] for cells in map(read_cells, format_comparison(ours, [peer, peer]))}
    assert rows[""] == ["prdigest", "PR-Agent", "PR-Agent", "PR-Agent / prdigest"]
    assert rows["tokens in"] == ["9,000", "18,000", "18,000", "2.00"]
    assert rows["GitHub calls"] == ["27", "54", "54", "2.00"]
    assert rows["seconds, median"] == ["2.00", "4.00", "4.00", "2.00"]
    assert rows["of them read from the prompt cache"][-1] == "-"
    lines = [read_cells(line) for line in format_pulls([pull(number) for number in (1, 2, 3)], ours, peer)]
    assert lines[2] == ["#1", "1", "2", "1,000", "2,000", "3", "6", "1.0", "2.0"]
    assert len(lines) == 5


def read_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_cached_prompt_costs_less() -> None:
    run = Run(1, 1.0, 0.5, 0.5, 100.0, 1, 1, Usage(100, 100, cache_read=5_000))
    assert run.dollars < run.plain_dollars
    assert MODEL.startswith("claude-")
