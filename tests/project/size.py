"""How large the project is, beside the bounds that only go down and the targets that they go down to.

``python -m tests.project.size`` prints the table in a few seconds. ``--trace`` adds what requests cross in our
code (``python -m benchmarks trace``, a minute). ``--lower`` writes what is smaller today into ``bounds.toml``.
Where two have lowered a bound, take either and run it again.

Lines are physical lines of Python files. Logic is what bodies of functions do: their lines but blank ones,
comments, docstrings, imports, decorators and signatures inside, and those of brackets alone. At commit a5646e28
this is 31.9 % of the lines, 4.6 lines a function. The length of a function goes from ``def`` to its last line,
without its docstring.

An implementation of a protocol is a class of the product that is no protocol, and inherits it or has each of its
methods with the same names of parameters and each of its attributes. A protocol of ``__call__`` alone is a type of
functions, and is not counted.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeGuard

from tests.project.tools.module_nodes import list_nodes

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = Path(__file__).with_name("bounds.toml")
BOT = ("bot", "handlers")
IMPACT = "impact/impact"
TESTS = ("tests", "localslack/tests", "impact/tests")
LONGEST = 70  # lines of a function
# how far below its bound a figure may be: two, or this share
SLACK = 0.05

Function = ast.FunctionDef | ast.AsyncFunctionDef
Members = dict[str, list[str] | None]


class Bound(NamedTuple):
    """What a figure may be at most, where it shall be in the end, and what that protects."""

    protects: str
    target: float | str | None = None
    bound: float | None = None

    def explain_miss(self, name: str, figure: float) -> str:
        """Return what to do about a figure that is above its bound or far below it; empty if nothing."""
        if self.bound is None:
            return ""
        if figure > self.bound:
            return (
                f"{name}: {figure:,} is above its bound of {self.bound:,}. It protects {self.protects}. "
                "Make it smaller; a bound only goes down."
            )
        if self.bound - figure > max(2, SLACK * self.bound):
            command = "python -m tests.project.size --lower" + (" --trace" if ": " in name else "")
            return (
                f"{name}: {figure:,} is far below its bound of {self.bound:,}, well done. "
                f"Hold it: run `uv run {command}` and commit tests/project/bounds.toml."
            )
        return ""


def load_bounds() -> dict[str, Bound]:
    return parse_bounds(BOUNDS.read_text())


def parse_bounds(text: str) -> dict[str, Bound]:
    return {name: Bound(**entry) for name, entry in tomllib.loads(text).items()}


def lower_bounds(text: str, figures: Mapping[str, float]) -> str:
    """Return the file with the figures that are below their bounds; thousands have room up to the next hundred."""
    for name, (_, _, bound) in parse_bounds(text).items():
        if bound is None or name not in figures:
            continue
        rounded = figures[name] if figures[name] < 1_000 else ceil(figures[name] / 100) * 100
        head = f'["{name}"]\nbound = '
        text = text.replace(f"{head}{bound:_}\n", f"{head}{min(rounded, bound):_}\n")
    return text


@dataclass
class Size:
    files: int = 0
    folders: int = 0
    lines: int = 0
    logic: int = 0
    functions: list[tuple[int, str]] = field(default_factory=list)
    classes: list[ast.ClassDef] = field(default_factory=list)


def measure(names: Iterable[str]) -> Size:
    """Read all modules below some folders, as far as they exist."""
    size = Size()
    paths = list_modules(names)
    size.folders = len({path.parent for path in paths})
    for path in paths:
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        size.files += 1
        size.lines += len(lines)
        nodes = list_nodes(source)
        size.logic += len(list_logic(nodes, lines))
        size.classes += [node for node in nodes if isinstance(node, ast.ClassDef)]
        size.functions += [
            (count_lines(node), f"{path.relative_to(ROOT)}: {node.name}")
            for node in nodes
            if isinstance(node, Function)
        ]
    return size


def list_modules(names: Iterable[str]) -> list[Path]:
    return [path for name in names for path in sorted((ROOT / name).rglob("*.py"))]


def list_logic(nodes: Iterable[ast.AST], lines: Sequence[str]) -> list[int]:
    bodies, others = set[int](), set[int]()
    for node in nodes:
        if isinstance(node, Function):
            bodies.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
        if isinstance(node, Function | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            others.update(range(first, max(node.body[0].lineno, node.lineno + 1)))
        elif is_docstring(node) or isinstance(node, ast.Import | ast.ImportFrom):
            others.update(range(node.lineno, (node.end_lineno or 0) + 1))
    texts = ((at, lines[at - 1].strip("()[]{},: ")) for at in sorted(bodies - others))
    return [at for at, text in texts if text and not text.startswith("#")]


def is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


def count_lines(node: Function) -> int:
    """Return the lines of a function from ``def`` to its end without its docstring."""
    first = node.body[0]
    documentation = (first.end_lineno or 0) - first.lineno + 1 if is_docstring(first) else 0
    return (node.end_lineno or 0) - node.lineno + 1 - documentation


def count_implementations(classes: Iterable[ast.ClassDef]) -> dict[str, int]:
    bases: dict[str, list[str]] = {}
    own: dict[str, Members] = {}
    for node in classes:  # those of one name are taken together
        bases.setdefault(node.name, []).extend(list_bases(node))
        own.setdefault(node.name, {}).update(read_members(node))
    ancestors = {name: list_ancestors(name, bases) for name in bases}
    members = dict[str, Members]()
    for name, names in ancestors.items():
        members[name] = {}
        for each in (*sorted(names - {name}), name):
            members[name] |= own.get(each, {})
    protocols = [
        name for name, direct in bases.items() if "Protocol" in direct and members[name].keys() != {"__call__"}
    ]
    others = [name for name, direct in bases.items() if "Protocol" not in direct]
    return {
        each: sum(each in ancestors[name] or has_members(members[name], members[each]) for name in others)
        for each in protocols
    }


def list_ancestors(name: str, bases: Mapping[str, list[str]]) -> set[str]:
    names, pending = set[str](), [*bases[name]]
    while pending:
        if (base := pending.pop()) not in names:
            names.add(base)
            pending += bases.get(base, ())
    return names


def list_bases(node: ast.ClassDef) -> list[str]:
    """Return the names of the bases of a class, without modules and parameters of types."""
    return [re.sub(r"\[.*", "", ast.unparse(base), flags=re.DOTALL).rpartition(".")[2] for base in node.bases]


def read_members(node: ast.ClassDef) -> Members:
    members: Members = {}
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                members[name] = None
            case ast.FunctionDef(name="__init__"):
                members |= dict.fromkeys(re.findall(r"self\.(\w+)(?:: .*)? = ", ast.unparse(statement)))
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                members[name] = [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)][1:]
    return members


def has_members(own: Members, members: Members) -> bool:
    """Tell whether a class has what a protocol asks for. It may have further parameters, which have defaults."""
    if not members.keys() <= own.keys():
        return False
    pairs = ((parameters, own[name]) for name, parameters in members.items())
    return all(not asked or its is None or set(asked) <= set(its) for asked, its in pairs)


def measure_sizes() -> dict[str, float]:
    bot, impact = measure(BOT), measure([IMPACT])
    implementations = count_implementations([*bot.classes, *impact.classes])
    lengths = [length for length, _ in bot.functions]
    return {
        "lines of bot and handlers": bot.lines,
        "files of bot and handlers": bot.files,
        "folders of bot and handlers": bot.folders,
        "lines of impact": impact.lines,
        "files of impact": impact.files,
        "lines of tests": sum(path.read_bytes().count(b"\n") for path in list_modules(TESTS)),
        "logic, % of lines of bot and handlers": round(100 * bot.logic / bot.lines, 1),
        "functions": len(lengths),
        "median function, lines": median(lengths),
        "longest function, lines": max(lengths),
        f"functions over {LONGEST} lines": sum(length > LONGEST for length, _ in bot.functions + impact.functions),
        "protocols": len(implementations),
        "protocols with fewer than two implementations": sum(count < 2 for count in implementations.values()),
    }


def measure_trace() -> dict[str, float]:
    """Return what requests cross, which a process of its own measures."""
    command = [sys.executable, "-m", "benchmarks.trace", "--json"]
    flows = json.loads(subprocess.check_output(command, cwd=ROOT).splitlines()[-1])
    return {f"{flow}: {name}": count for flow, counts in flows.items() for name, count in counts.items()}


def format_table(figures: Mapping[str, float], bounds: Mapping[str, Bound]) -> Iterator[str]:
    yield f"{'':<48}{'today':>9}{'bound':>9}{'target':>12}  it protects"
    for name in dict.fromkeys((*figures, *bounds)):
        bound = bounds.get(name)
        cells = [figures.get(name), *((bound.bound, bound.target, bound.protects) if bound else (None, None, ""))]
        today, most, target, protects = (
            f"{cell:,}" if isinstance(cell, float | int) else cell or "" for cell in cells
        )
        yield f"{name:<48}{today:>9}{most:>9}{target:>12}  {protects}".rstrip()
    misses = [bounds[name].explain_miss(name, figure) for name, figure in figures.items() if name in bounds]
    yield from filter(None, misses)


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.project.size")
    parser.add_argument("--trace", action="store_true", help="measure what requests cross, too")
    parser.add_argument("--lower", action="store_true", help="write smaller figures into bounds.toml")
    options = parser.parse_args()
    figures = measure_sizes() | (measure_trace() if options.trace else {})
    if options.lower:
        BOUNDS.write_text(lower_bounds(BOUNDS.read_text(), figures))
    for line in format_table(figures, load_bounds()):
        print(line)  # noqa: T201 (a command)


if __name__ == "__main__":
    main()
