"""A task for a coding agent: built from facts, honest about what it lacks, and closed to injections."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.features.touches.tasks import (
    DATA_NOTE,
    AgentTask,
    MigrationHunk,
    build_agent_task,
    render_agent_task,
    render_task_view,
    split_text,
)
from bot.platform.markdown import write_fence
from bot.platform.pulls.diff import DiffLine
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract, Migration
from impact.coverage import Coverage, CoveredPart
from impact.profile.models import Profile, Use, UseKind
from impact.touches.models import MergeTouches, Touch, TouchLevel
from tests.attacks.hostile_plans import Words, make_task, words
from tests.features.digest.hostile_days import texts
from tests.helpers.builders import NOON, changed_file, pull

STOP = "engine.core.stop"
CHANGE = ContractChange(
    ContractClass.FUNCTION,
    ChangeKind.RENAMED,
    STOP,
    "stop()",
    "halt()",
    "engine/core.py",
    5,
    new_name="engine.core.halt",
)
USE = Use(UseKind.CALL, STOP, "plugin/worker.py", 7, "    stop()", (STOP,))
TEST = replace(USE, path="tests/test_worker.py", line=3, is_test=True)
OTHER = Use(UseKind.CALL, "engine.core.run", "tests/test_run.py", 1, "run()", is_test=True)
HIT = MergeTouches(
    7,
    "Rename stop",
    "c" * 40,
    TouchLevel.BREAKS,
    0.9,
    (Touch(TouchLevel.BREAKS, CHANGE, (USE,), "`core.stop` is gone", 0.9),),
)
CONTRACT = MergeContract(
    7, "c" * 40, NOON, migrations={STOP: (Migration("engine/main.py", 12, "stop()", "halt()"),)}
)
PATCH = "\n".join(
    [
        "@@ -1,2 +1,2 @@",
        " import os",
        "-import engine.stop",
        "+import engine.halt",
        "@@ -10,20 +10,20 @@ def main():",
    ]
    + [f" line {number}" for number in (10, 11)]
    + ["-    stop()", "+    halt()"]
    + [f" line {number}" for number in range(13, 30)]
)
PROFILE = Profile("satellite", ("engine",), "octo/satellite", "c0ffee" * 7, NOON, (USE, TEST, OTHER))
FILES = (
    changed_file("engine/main.py", patch=PATCH),
    changed_file("tests/test_core.py", patch="@@ -1 +1 @@\n-a\n+b"),
)
MERGED = pull(7, title="Rename stop", files=FILES)
UNREAD = f"The diff could not be read here: open the [changed files]({MERGED.url}/files)."
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def build(**fields: Any) -> AgentTask:
    return build_agent_task(
        fields.pop("pull", MERGED),
        fields.pop("merge", HIT),
        fields.pop("contract", CONTRACT),
        fields.pop("profile", PROFILE),
        DEFAULT_PATH_CLASSES,
    )


def test_the_whole_text() -> None:
    url = "https://github.com/octo/engine"
    commit = MERGED.commit
    assert (
        render_agent_task(build())
        == f"""# Task: adapt satellite to octo/engine#7

[#7]({url}/pull/7) Rename stop
was merged into octo/engine as `{commit[:10]}`.
Change our code so that it works with that merge, and change nothing else.

{DATA_NOTE}

## What changed

- **breaks us**: `engine.core.stop` renamed ([engine/core.py:5]({url}/blob/{commit}/engine/core.py#L5))
    - why: plugin/worker.py:7 breaks: `core.stop` is gone
    - upstream: `stop()` → `halt()`

## Our lines

In octo/satellite at commit `c0ffeec0ff`. A later commit may have moved them.

- `plugin/worker.py:7` calls it: `stop()`

## How upstream changed its own callers

Excerpts of the same pull request; `…` stands for lines that are left out.

```diff
--- a/engine/main.py
+++ b/engine/main.py
@@ -10,20 +10,20 @@ def main():
 line 10
 line 11
-    stop()
+    halt()
 line 13
 line 14
 line 15
 line 16
 line 17
 line 18
…
```

Left out: 1 more part that may belong to it, see the [whole diff]({url}/pull/7/files).

## How to check

- Tests of ours that use what changed:
    - `tests/test_worker.py:3`
- Tests that upstream changed in the same pull request:
    - `tests/test_core.py`
- The command that runs our tests is not known here: take it from our repository.
"""
    )


@pytest.mark.parametrize(
    ("task", "sentences"),
    [
        (
            build(contract=MergeContract(7, "c" * 40, NOON)),
            ["I found no line of upstream's own code", "2 more parts"],
        ),
        (build(pull=replace(MERGED, files=None)), [UNREAD]),
        (build(pull=replace(MERGED, files=(changed_file(patch=None),))), [UNREAD]),
        # GitHub leaves out the diffs of large files
        (
            build(pull=replace(MERGED, files=(changed_file("engine/main.py", patch=None), FILES[1]))),
            ["1 more part"],
        ),
        (build(profile=replace(PROFILE, uses=(USE,))), ["The profile knows no test of ours"]),
        (
            replace(build(), coverage=Coverage.of(CoveredPart("files of your code", 1, 3)), tests=()),
            ["change nothing else.\n\nI couldn't read 1 of 3 files of your code, so there may be more."],
        ),
    ],
)
def test_what_is_not_known_is_said(task: AgentTask, sentences: list[str]) -> None:
    text = render_agent_task(task)
    assert "knows no test" not in text or task.coverage.is_complete
    assert [sentence for sentence in sentences if sentence not in text] == []


def test_what_is_too_much_is_left_out_and_counted() -> None:
    touches = tuple(
        replace(HIT.touches[0], uses=tuple(replace(USE, path=f"a{n}.py", line=m) for m in range(5)))
        for n in range(12)
    )
    line = DiffLine("+", "x" * 90, 1, 1)
    hunks = tuple(MigrationHunk(f"b{number}.py", "@@ -1 +1 @@", (line,) * 12) for number in range(9))
    task = replace(build(), merge=replace(HIT, touches=touches), hunks=hunks, upstream_tests=("t.py",) * 9)
    text = render_agent_task(task)
    for sentence in ("4 more changes", "40 more lines", "6 more parts that may", "1 more test file"):
        assert f"eft out: {sentence}" in text
    assert len(text) < 20_000


def test_a_credential_in_a_line_or_a_diff_is_not_shown() -> None:
    secret = "ghp_" + "a1B2" * 9
    uses = (replace(USE, text=f'token = "{secret}"'),)
    hunk = MigrationHunk("a.py", "@@ -1 +1 @@", (DiffLine("+", f'token = "{secret}"', 1, 1),))
    touch = replace(HIT.touches[0], uses=uses)
    text = render_agent_task(replace(build(), merge=replace(HIT, touches=(touch,)), hunks=(hunk,)))
    assert secret not in text
    assert text.count("[redacted]") == 2


# what a diff may hold to end its own fence, and to go on as the task
_breakers = st.sampled_from(
    (
        "```",
        "````",
        " ```",
        "   ```",
        "~~~",
        "```diff",
        "\r```\r",
        "\u2028```\u2028",
        "\x0b```",
        "# Task",
        "</code>",
    )
)
_lines = st.lists(st.one_of(_breakers, texts(80)), max_size=12)


@given(_lines)
def test_nothing_ends_a_fence_but_its_own_end(lines: list[str]) -> None:
    tokens = PARSER.parse(write_fence("\n".join(lines), "diff") + "\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].info == "diff"


@given(words(), _lines)
def test_whatever_the_texts_say_there_is_one_diff_and_links_lead_to_the_repository(
    hostile_words: Words, lines: list[str]
) -> None:
    hunk = MigrationHunk(
        hostile_words.text(), hostile_words.text(), tuple(DiffLine(" ", line, 1, 1) for line in lines)
    )
    task = replace(make_task(hostile_words), hunks=(hunk,))
    text = render_agent_task(task)
    tokens = PARSER.parse(text)
    assert [token.info for token in tokens if token.type == "fence"] == ["diff"]
    assert [token.type for token in tokens if token.type in ("html_block", "code_block")] == []
    titles = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert titles[1:] == ["What changed", "Our lines", "How upstream changed its own callers", "How to check"]
    for token in tokens:
        for each in token.children or ():
            assert each.type not in ("image", "html_inline")
            if each.type == "link_open":
                assert urlsplit(str(each.attrs["href"])).netloc == "github.com"


@given(st.lists(texts(200), max_size=200).map("\n".join))
def test_the_pieces_are_the_text_and_slack_takes_them(text: str) -> None:
    pieces = list(split_text(text))
    assert "\n".join(pieces) == text.rstrip("\n")
    assert all(len(piece) <= 2_900 for piece in pieces)


def test_a_long_line_is_split_and_an_endless_text_is_cut_and_says_so() -> None:
    assert list(split_text("x" * 7_000)) == ["x" * 2_900, "x" * 2_900, "x" * 1_200]
    view = render_task_view("line\n" * 20_000)
    assert len(view["blocks"]) == 13
    assert "its end is missing" in view["blocks"][0]["elements"][0]["text"]
