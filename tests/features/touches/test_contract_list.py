"""The answer to ``/prdigest contract``: accepted whatever its texts, and true about what it leaves out."""

from dataclasses import replace

import pytest

from bot.dates import Span
from bot.features.merges.summary import Evidence, build_evidence_url
from bot.features.touches.contracts import ContractList
from bot.features.touches.lines import list_contract_rows
from bot.features.touches.view import render_contract_file, render_contract_list
from bot.platform.slack import terminal
from bot.platform.slack.blocks import Post, has_table, make_link
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract, cover_contracts
from impact.coverage import CoveredList, UnreadFile
from impact.source.models import DiffSide
from impact.testing.checks import check_rows
from tests.helpers.builders import DAY, NOON, pull
from tests.platform.slack.accepted import assert_taken

PULL = pull(7)
SPAN = Span(DAY.date, DAY.date, DAY.zone)
CHANGE = ContractChange(
    ContractClass.FUNCTION,
    ChangeKind.SIGNATURE,
    "engine.core.run",
    "def run()",
    "def run(x)",
    "engine/core.py",
    3,
    DiffSide.NEW,
)
LINE = build_evidence_url(PULL, Evidence("engine/core.py", "", DiffSide.NEW, 3))


def list_changes(
    *changes: ContractChange, unread: tuple[UnreadFile, ...] = (), notes: tuple[str, ...] = ()
) -> ContractList:
    contract = MergeContract(7, PULL.commit, NOON, "Change", changes, unread=unread)
    return ContractList(
        "Engine", SPAN, 3, (PULL,), CoveredList((contract,), cover_contracts([contract])), notes=notes
    )


def render_changes(
    *changes: ContractChange, unread: tuple[UnreadFile, ...] = (), notes: tuple[str, ...] = ()
) -> Post:
    post = render_contract_list(list_changes(*changes, unread=unread, notes=notes))
    assert_taken(post, {PULL.url, LINE, *(address(each) for each in changes)})
    return post


def address(change: ContractChange) -> str:
    return build_evidence_url(PULL, Evidence(change.path, "", change.side, change.line))


def read(post: Post) -> str:
    return terminal.format_message(post)


def test_what_was_removed_comes_first_and_each_row_has_its_line() -> None:
    removed = replace(CHANGE, kind=ChangeKind.REMOVED, name="engine.core.stop", after="")
    variable = replace(
        CHANGE, subject=ContractClass.ENVIRONMENT, kind=ChangeKind.ADDED, name="ENGINE_X", before=""
    )
    text = read(render_changes(variable, CHANGE, removed))
    places = [text.index(part) for part in ("core.stop", "core.run", "Environment variable", "ENGINE_X")]
    assert places == sorted(places)
    assert "3 contract changes" in text
    assert ": def run() → def run(x) (core.py:3)" in text


def test_a_new_name_stands_in_place_of_the_line() -> None:
    moved = replace(CHANGE, kind=ChangeKind.MOVED, new_name="engine.new.run")
    text = read(render_changes(moved))
    assert "→ new.run" in text
    assert "def run" not in text


def test_a_line_that_only_repeats_the_name_is_left_out() -> None:
    flag = replace(CHANGE, subject=ContractClass.FLAG, name="--new", before="", after="--new")
    added, other = replace(flag, kind=ChangeKind.ADDED), replace(flag, before="--new", after="--new default off")
    text = read(render_changes(added, other))
    assert "added --new (core.py:3)" in text
    assert "other values --new: --new → --new default off (core.py:3)" in text


def test_no_change_is_said() -> None:
    assert "No merge of these days changes what others depend on." in read(render_changes())


def test_behaviour_is_no_row() -> None:
    assert "0 contract changes" in read(render_changes(replace(CHANGE, kind=ChangeKind.BEHAVIOUR)))


def test_what_could_not_be_read_is_said() -> None:
    unread = tuple(UnreadFile(f"engine/{number}.py", "it is too large") for number in range(7))
    text = read(render_changes(CHANGE, unread=unread, notes=("one day is missing",)))
    assert text.index("I couldn't read 7 of 7 changed files (0.py: it is too large") < text.index("1 contract")
    assert "engine/4.py (it is too large), and 2 more" in text
    assert "one day is missing" in text


@pytest.mark.parametrize("count", [1, 40, 900])
def test_a_long_list_fits_and_says_what_it_leaves_out(count: int) -> None:
    changes = [replace(CHANGE, name=f"engine.part{number}.run", line=number + 1) for number in range(count)]
    text = read(render_changes(*changes))
    shown = sum(f"part{number}.run" in text for number in range(count))
    assert shown == count or f"{count - shown:,} more rows in the file" in text
    file = render_contract_file(list_changes(*changes))
    assert (file is None) == (shown == count)
    assert file is None or all(
        f"- [#7]({PULL.url}) other signature `engine.part{number}.run`: `def run()` → `def run(x)`"
        f" (`engine/core.py:{number + 1}`)\n" in file.text
        for number in range(count)
    )


def test_the_file_says_first_what_was_not_read() -> None:
    changes = [replace(CHANGE, name=f"engine.part{number}.run") for number in range(900)]
    file = render_contract_file(list_changes(*changes, unread=(UnreadFile("engine/a.py", "it is too large"),)))
    assert file is not None
    assert file.name == "contract-2026-02-28-2026-02-28.md"
    assert file.text.index("I couldn't read 1 of") < file.text.index("## Function · 900 contract changes")


FIELD = replace(CHANGE, subject=ContractClass.ATTRIBUTE, kind=ChangeKind.REMOVED, before="size: int", after="")


@check_rows(
    {
        "a field of a configuration": ("up.config.Cache.size", ContractClass.CONFIGURATION, "Cache.size", 1),
        "a field of a message": ("up.api.Chat.size", ContractClass.API_FIELD, "Chat.size", 1),
        "a field between processes": ("up.core.Batch.size", ContractClass.WIRE, "Batch.size", 1),
        "a field of another class": ("up.core.Batch.size", ContractClass.WIRE, "Cache.size", 2),
        "another field": ("up.core.Batch.size", ContractClass.WIRE, "Batch.count", 2),
    }
)
def test_one_fact_in_two_classes_is_told_once(name: str, subject: ContractClass, other: str, count: int) -> None:
    attribute, field = replace(FIELD, name=name), replace(FIELD, subject=subject, name=other)
    rows = list_contract_rows([MergeContract(7, PULL.commit, NOON, "Change", (attribute, field))])
    assert len(rows) == count
    assert rows[-1].change == (field if count == 1 else rows[-1].change)
    # of two merges, both are told
    merges = [MergeContract(n, PULL.commit, NOON, "Change", (each,)) for n, each in ((7, attribute), (8, field))]
    assert len(list_contract_rows(merges)) == 2


def test_a_variable_is_told_without_the_constant_that_holds_it() -> None:
    variable = replace(FIELD, subject=ContractClass.ENVIRONMENT, name="UP_X")
    constant = replace(FIELD, subject=ContractClass.CONSTANT, name="up.envs.UP_X")
    rows = list_contract_rows([MergeContract(7, PULL.commit, NOON, "Change", (constant, variable))])
    assert [row.change for row in rows] == [variable]


@check_rows(
    {
        "by its name": ("up.protocol.logger", "logger", 0),
        "with a mark": ("up.protocol._LOGGER", "_LOGGER", 0),
        "by what makes it": ("up.protocol.trace", "trace = init_logger(__name__)", 0),
        "a variable of types": ("up.protocol.T", "T = TypeVar('T')", 0),
        "a name that only begins so": ("up.protocol.log_stats", "log_stats = True", 1),
        "another value": ("up.protocol.LIMIT", "LIMIT = read_limit()", 1),
    }
)
def test_a_logger_of_a_module_is_no_contract(name: str, before: str, count: int) -> None:
    constant = replace(FIELD, subject=ContractClass.CONSTANT, name=name, before=before)
    assert len(list_contract_rows([MergeContract(7, PULL.commit, NOON, "Change", (constant,))])) == count


def test_more_than_three_changes_are_a_table_with_all_that_lines_have() -> None:
    few = [replace(CHANGE, name=f"engine.part{number}.run", line=number + 1) for number in range(3)]
    assert not has_table(render_changes(*few).blocks)
    moved = replace(CHANGE, kind=ChangeKind.MOVED, new_name="engine.new.run")
    post = render_changes(*few, moved)
    (table,) = [block for block in post.blocks if block["type"] == "data_table"]
    assert table["caption"] == "4 contract changes by kind, removed first"
    assert [cell["text"] for cell in table["rows"][0]] == ["Name", "Kind", "Change", "Difference", "Merge"]
    lines = read(post)
    assert "  • part0.run · function · other signature · def run() → def run(x) · #7" in lines
    assert "core.run · function · moved · new.run · #7" in lines
    assert "By kind: function 4" in lines
    # the name leads to the line
    assert table["rows"][1][0]["elements"][0]["elements"] == [make_link(LINE, "core.run")]
    file = render_contract_file(list_changes(*few, moved))
    assert file is None


@pytest.mark.parametrize("odd", ["a|b", "<!here>*x*", "x" * 10_000, "\u202ertl", "`"])
def test_hostile_names_stay_text_in_a_table(odd: str) -> None:
    changes = [replace(CHANGE, name=f"up.{odd}{number}", before=odd, line=number + 1) for number in range(9)]
    assert has_table(render_changes(*changes).blocks)
