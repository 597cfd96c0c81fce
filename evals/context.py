"""Whether the functions shown around changes are right: each hunk is checked against the syntax tree of its file.

The record of a day has patches, not files. So the hunks are laid over the files of a source tree, of the release
nearest to the day; those that do not fit it are counted.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bot.platform.models.packing import WHOLE_FUNCTIONS
from bot.platform.pulls.diff import DiffLine, split_hunks
from bot.platform.source.excerpts import AnnotatedChange, annotate_file, restore_old_text
from impact.source.models import SourceFile

# lines: the head of a longer signature is cut
_MAX_HEAD = 12
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class ContextCheck:
    """The check of one file: how many hunks fit the tree, of how many, and what is wrong as sentences."""

    hunks: int
    fitting: int
    problems: tuple[str, ...] = ()


@click.command("context")
@click.option("--tree", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--replay", default="../shared/replay", show_default=True, type=click.Path(path_type=Path))
def context(tree: Path, replay: Path) -> None:
    """Check the functions around each hunk of recorded days; exit 1 if one is wrong or none fits.

    --tree is a folder with the files of the repository, --replay one with a folder for each day.
    """
    checks = [
        check_file(record, tree)
        for record in iterate_python_files(replay)
        if (tree / record["filename"]).is_file()
    ]
    problems = [problem for check in checks for problem in check.problems]
    for problem in problems:
        click.echo(problem)
    fitting, hunks = sum(check.fitting for check in checks), sum(check.hunks for check in checks)
    click.echo(f"{len(checks)} files, {fitting} of {hunks} hunks fit the tree, {len(problems)} problems")
    raise SystemExit(1 if problems or not fitting else 0)


def iterate_python_files(replay: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(replay.glob("*/files/*.json")):
        for record in json.loads(path.read_text(encoding="utf-8")):
            is_changed = record["status"] in ("modified", "renamed") and record.get("patch")
            if is_changed and record["filename"].endswith(".py"):
                yield record


def check_file(record: dict[str, Any], tree: Path) -> ContextCheck:
    before = (tree / record["filename"]).read_text(encoding="utf-8")
    hunks = list(split_hunks(record["patch"]))
    after, fitting = apply_hunks(before.split("\n"), hunks)
    if not fitting:
        return ContextCheck(len(hunks), 0)
    patch = "\n".join(line for header, hunk in fitting for line in (header, *(each.patch_text for each in hunk)))
    annotated = annotate_file(SourceFile(record["filename"], "\n".join(after)), patch)
    return ContextCheck(len(hunks), len(fitting), tuple(_list_problems(record["filename"], before, annotated)))


def apply_hunks(
    before: Sequence[str], hunks: Sequence[tuple[str, tuple[DiffLine, ...]]]
) -> tuple[list[str], list[tuple[str, tuple[DiffLine, ...]]]]:
    """Return the lines after those hunks whose old side stands in the file just once, and these hunks."""
    after, done, fitting = list[str](), 0, []
    for header, hunk in hunks:
        old_side = [line.text for line in hunk if line.mark != "+"]
        places = [at for at in range(done, len(before)) if list(before[at : at + len(old_side)]) == old_side]
        if not old_side or len(places) != 1:
            continue
        after += [*before[done : places[0]], *(line.text for line in hunk if line.mark != "-")]
        done = places[0] + len(old_side)
        fitting.append((header, hunk))
    return [*after, *before[done:]], fitting


def _list_problems(path: str, before: str, annotated: tuple[DiffLine, ...] | None) -> Iterator[str]:
    if annotated is None:
        yield f"{path}: the patch is not found in the file after it"
        return
    if restore_old_text(annotated).rstrip("\n") != before.rstrip("\n"):
        yield f"{path}: the file before the change is not restored"
    shown = set(AnnotatedChange.parse(annotated, path).select_lines(WHOLE_FUNCTIONS))
    expected = list_expected_lines(annotated)
    for at in sorted(shown ^ expected):
        state = "missing" if at in expected else "too much"
        yield f"{path}: line {annotated[at].new} is {state}"


def list_expected_lines(annotated: Sequence[DiffLine]) -> set[int]:
    """Return the indices of the lines that should be shown, by the syntax trees before and after the change."""
    changes = [at for at, line in enumerate(annotated) if line.is_change]
    near = range(-WHOLE_FUNCTIONS.near, WHOLE_FUNCTIONS.near + 1)
    expected = {at + offset for at in changes for offset in near if 0 <= at + offset < len(annotated)}
    for hidden in "+-":
        side = [at for at, line in enumerate(annotated) if line.mark != hidden]
        expected.update(*_list_scope_lines(annotated, side))
    return expected


def _list_scope_lines(annotated: Sequence[DiffLine], side: Sequence[int]) -> Iterator[range]:
    tree = ast.parse("\n".join(annotated[at].text for at in side))
    definitions = [node for node in ast.walk(tree) if isinstance(node, _Definition)]
    for changed in (number for number, at in enumerate(side, 1) if annotated[at].is_change):
        around = sorted((node for node in definitions if changed in _get_lines(node)), key=_get_length)
        for node in around:
            lines = _locate(_get_lines(node), side)
            # what was deleted within counts too: it is shown as well
            is_whole = node is around[0] and len(lines) <= WHOLE_FUNCTIONS.whole
            yield lines if is_whole else _locate(_get_head(node), side)[:_MAX_HEAD]


def _locate(numbers: range, side: Sequence[int]) -> range:
    return range(side[numbers.start - 1], side[numbers.stop - 2] + 1)


def _get_length(node: _Definition) -> int:
    return len(_get_lines(node))


def _get_lines(node: _Definition) -> range:
    return range(_get_first_line(node), (node.end_lineno or node.lineno) + 1)


def _get_head(node: _Definition) -> range:
    return range(_get_first_line(node), max(_get_first_line(node.body[0]), node.lineno + 1))


def _get_first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
