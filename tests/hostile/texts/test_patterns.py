"""Every pattern takes time in proportion to the text: what makes it try again is made from the pattern itself.

Each repetition in it is repeated behind a text that matches what stands before it, and then fails.
"""

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from re import _parser as syntax  # type: ignore[attr-defined]
from typing import Any

import pytest

import bot
import handlers
import impact
from impact.profile.plain_uses import get_patterns

pytestmark = pytest.mark.slow

# of these, the texts are ours, or bounded where they are read
BOUNDED = {"bot.demo.stand_in:_PIECE": "it cuts the demo's own texts"}
# pieces that many patterns begin or repeat with
PIECES = (
    *" |\t|\n|\r\n|\\\n| \\\n|'|\"|`|\\'|\\\"|- |-|_|A|A_|a|1|.|/|:|(|[|{|<|=|a.|a-|a_|up.|--a |#|x\n| x|a,".split(
        "|"
    ),
)
SAMPLES = " xX1_-./:@#\"'\t\n,=<>()[]{}|*`\\~!?;&%$+^éabcdefABCDEF0"
REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
# a repetition of fewer is no power of the text's length
LONG_REPEAT = 20
# characters; an exponential pattern is noticed in the first, a square in the others
TINY, SHORT, LONG, LONGER, LONGEST = (24, 32, 40), 500, 2_000, 1_500, 15_000
MOST_GROWTH = 30


def list_patterns() -> dict[re.Pattern[str], str]:
    patterns: dict[re.Pattern[str], str] = {}
    for package in (impact, bot, handlers):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.endswith("__main__"):
                module = importlib.import_module(info.name)
                for name, value in vars(module).items():
                    for pattern in unfold(value):
                        patterns.setdefault(pattern, f"{module.__name__}:{name}")
    for pattern in unfold(get_patterns(("up", "engine"))):
        patterns.setdefault(pattern, "impact.profile.plain_uses:get_patterns")
    return patterns


def unfold(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """The patterns in a value; those of globs, which match from the front alone, are tried as globs."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 3 and isinstance(value, tuple | list | set | frozenset | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from unfold(each, depth + 1)
    elif depth < 2 and type(value).__name__ != "PathGlobs" and hasattr(type(value), "__dataclass_fields__"):
        for name in type(value).__dataclass_fields__:  # type: ignore[attr-defined]
            yield from unfold(getattr(value, name, None), depth + 1)


@cache
def read_modules() -> str:
    return "\n".join(
        Path(str(importlib.import_module(info.name).__file__)).read_text()
        for package in (impact, bot, handlers)
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not info.ispkg
    )


def list_readers(pattern: re.Pattern[str], place: str) -> Iterator[Callable[[str], object]]:
    """How a pattern is used: by its name in its own module, or in any if others may import it."""
    module, _, name = place.partition(":")
    source = inspect.getsource(importlib.import_module(module)) if name.startswith("_") else read_modules()
    called = set(re.findall(rf"\b{name}(?:\[[^]\n]*\])?\s*\.(\w+)", source)) or {"finditer", "match"}
    if called & {"match"}:
        yield pattern.match
    if called & {"fullmatch"}:
        yield pattern.fullmatch
    if called - {"match", "fullmatch", "pattern"}:
        yield lambda text: sum(1 for _ in pattern.finditer(text))


def build_sample(items: Iterable[tuple[Any, Any]]) -> str:
    return "".join(sample_part(str(kind), value) for kind, value in items)


def sample_part(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind in {"NOT_LITERAL", "ANY"}:
        return "x"
    if kind == "IN":
        return next((each for each in SAMPLES if is_in(each, value)), "x")
    if kind == "BRANCH":
        return build_sample(value[1][0])
    if kind in REPEATS:
        return build_sample(value[2]) * max(int(value[0]), int(value[1]) > 0)
    return build_sample(list_inner(kind, value)[0]) if kind in {"SUBPATTERN", "ATOMIC_GROUP"} else ""


def is_in(sign: str, parts: list[tuple[Any, Any]]) -> bool:
    is_negated = str(parts[0][0]) == "NEGATE"
    tests: dict[str, Callable[[str], bool]] = {
        "SPACE": str.isspace,
        "DIGIT": str.isdigit,
        "WORD": lambda each: each.isalnum() or each == "_",
    }

    def fits(kind: str, value: Any) -> bool:
        if kind == "LITERAL":
            return chr(value) == sign
        if kind == "RANGE":
            return bool(value[0] <= ord(sign) <= value[1])
        *_, negation, name = f"_{value}".split("_")
        return kind == "CATEGORY" and tests[name](sign) != (negation == "NOT")

    return any(fits(str(kind), value) for kind, value in parts[is_negated:]) != is_negated


def list_inner(kind: str, value: Any) -> list[Any]:
    if kind == "BRANCH":
        return [*value[1]]
    if kind == "SUBPATTERN":
        return [value[3]]
    if kind in REPEATS:
        return [value[2]]
    return [value] if kind == "ATOMIC_GROUP" else [value[1]] if kind.startswith("ASSERT") else []


def list_pumps(items: list[tuple[Any, Any]], before: str = "") -> Iterator[tuple[str, str]]:
    """For each long repetition, what comes before it and what is repeated, in each of its branches."""
    for at, (operator, value) in enumerate(items):
        kind, start = str(operator), before + build_sample(items[:at])
        for inner in list_inner(kind, value):
            if kind in REPEATS and int(value[1]) >= LONG_REPEAT:
                yield start, build_sample(inner) or "x"
                for part, branches in inner:
                    if str(part) == "SUBPATTERN" and str(branches[3][0][0]) == "BRANCH":
                        yield from ((start, build_sample(each) or "x") for each in branches[3][0][1][1])
            yield from list_pumps([*inner], start)


def list_attacks(pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    tree = [*syntax.parse(pattern.pattern, pattern.flags)]
    whole = build_sample(tree)
    attacks = {("", each) for each in (*PIECES, whole, *(whole[:end] for end in range(1, min(len(whole), 40), 3)))}
    for start, piece in list_pumps(tree):
        attacks |= {(start, piece), ("", start + piece), ("", piece), (start, f"{piece}\n"), ("", piece + start)}
    return {attack for attack in attacks if attack[1]}


def measure(read: Callable[[str], object], attack: tuple[str, str], length: int) -> float:
    start, piece = attack
    text = f"{start}{(piece * (length // len(piece) + 1))[:length]}\0"
    before = time.thread_time()
    read(text)
    return time.thread_time() - before


def is_slow(read: Callable[[str], object], attack: tuple[str, str]) -> bool:
    """Whether ten times the text takes far more than ten times the time: longer texts only in doubt."""
    # the shorter ones first: an exponential pattern has no end in a longer text
    if any(measure(read, attack, length) > 0.02 for length in TINY):
        return True
    short = measure(read, attack, SHORT)
    if short < 0.0003:
        return False
    long = measure(read, attack, LONG)
    if long < 0.002 or long < 6 * short:
        return False
    return all(
        (longest := measure(read, attack, LONGEST)) > 0.05
        and longest > MOST_GROWTH * measure(read, attack, LONGER)
        for _ in range(2)
    )


def list_slow(pattern: re.Pattern[str], place: str) -> Iterator[str]:
    for read in list_readers(pattern, place):
        for attack in sorted(list_attacks(pattern)):
            if is_slow(read, attack):
                yield f"{place} {pattern.pattern[:80]!r} with {attack!r}"
                break


PATTERNS = list_patterns()
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_takes_the_square_of_a_text(part: int) -> None:
    chosen = [*PATTERNS.items()][part::PARTS]
    assert [each for row in chosen if row[1] not in BOUNDED for each in list_slow(*row)] == []


def test_what_is_excepted_is_there() -> None:
    assert set(BOUNDED) <= set(PATTERNS.values())
    assert len(PATTERNS) > 300


@pytest.mark.parametrize(
    ("former", "reader"),
    [
        (r"^\s*-?\s*name:", re.Pattern.search),
        (r"a(?:\r\n|[\r\n])+b", re.Pattern.search),
        (r"\b(?:of|in)\s*(?:the\s)?s?\s*$", re.Pattern.search),
        (r"[^\W\d]_+[^\W_]", re.Pattern.search),
        (r'"(?:[^"\\\n]|\\.)*"', re.Pattern.search),
    ],
)
def test_a_slow_pattern_is_noticed(former: str, reader: Callable[[re.Pattern[str], str], object]) -> None:
    pattern = re.compile(former)
    assert any(is_slow(lambda text: reader(pattern, text), attack) for attack in sorted(list_attacks(pattern)))
