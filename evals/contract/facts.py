"""Facts about merges that were read by hand, and how many of them the bot finds."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from impact.contract.models import ChangeKind, ContractChange, ContractClass

PYTHON = (
    ContractClass.MODULE,
    ContractClass.FUNCTION,
    ContractClass.CLASS,
    ContractClass.METHOD,
    ContractClass.ATTRIBUTE,
    ContractClass.CONSTANT,
)
# of the names of classes in a table
_WIDTH = max(len(each) for each in ContractClass)
# class, kind and name of a row
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Fact:
    """A row that a reader expects, with the classes and kinds that are right for it.

    One that is not ``is_required`` is right as well, and missed by nobody.
    """

    classes: tuple[str, ...]
    kinds: tuple[str, ...]
    name: str
    is_required: bool

    @property
    def keys(self) -> frozenset[Key]:
        return frozenset((each, kind, self.name) for each in self.classes for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class ClassScore:
    subject: str
    matched: int = 0
    missed: int = 0
    extra: int = 0

    @property
    def precision(self) -> float:
        return self.matched / max(1, self.matched + self.extra)

    @property
    def recall(self) -> float:
        return self.matched / max(1, self.matched + self.missed)


@dataclass(frozen=True, slots=True)
class MergeScore:
    number: int
    matched: tuple[Fact, ...]
    missed: tuple[Fact, ...]
    extra: tuple[Key, ...]


def read_facts(path: Path) -> dict[int, tuple[Fact, ...]]:
    """Return the facts by the number of the pull request. One without facts changes nothing for others."""
    facts: dict[int, list[Fact]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            own = facts[int(row["pr"])]
            if row["name"]:
                classes, kinds = tuple(row["class"].split("|")), tuple(row["kind"].split("|"))
                own.append(Fact(classes, kinds, row["name"], row["required"] == "yes"))
    return {number: tuple(own) for number, own in facts.items()}


def score_merge(
    number: int,
    facts: Iterable[Fact],
    changes: Iterable[ContractChange],
    subjects: Collection[ContractClass] = PYTHON,
) -> MergeScore:
    """Compare the rows of some classes with the facts. Rows about bodies alone count neither way."""
    rows = {
        (str(each.subject), str(each.kind), each.name)
        for each in changes
        if each.subject in subjects and each.kind is not ChangeKind.BEHAVIOUR
    }
    known = list(facts)
    right = frozenset(key for fact in known for key in fact.keys)
    needed = [fact for fact in known if fact.is_required]
    return MergeScore(
        number,
        tuple(fact for fact in needed if fact.keys & rows),
        tuple(fact for fact in needed if not fact.keys & rows),
        tuple(sorted(rows - right)),
    )


def sum_scores(scores: Iterable[MergeScore], subjects: Iterable[ContractClass] = PYTHON) -> Iterator[ClassScore]:
    merges = list(scores)
    for subject in subjects:
        yield ClassScore(
            str(subject),
            sum(fact.classes[0] == subject for each in merges for fact in each.matched),
            sum(fact.classes[0] == subject for each in merges for fact in each.missed),
            sum(key[0] == subject for each in merges for key in each.extra),
        )


def format_scores(
    title: str, scores: Mapping[int, MergeScore], subjects: Iterable[ContractClass] = PYTHON
) -> Iterator[str]:
    """Yield the lines of the table: the figures, then what is missed, then what is no fact."""
    yield f"{title}: {len(scores)} merges\n{'class':<{_WIDTH}} facts found extra precision recall"
    figures = list(sum_scores(scores.values(), subjects))
    for each in (*figures, _join_scores(figures)):
        facts, matches = each.matched + each.missed, each.matched
        shares = f"{each.precision:>9.2f} {each.recall:>6.2f}"
        yield f"{each.subject:<{_WIDTH}} {facts:>5} {matches:>5} {each.extra:>5} {shares}"
    for number, score in scores.items():
        yield from (f"missed {number} {'|'.join(fact.kinds)} {fact.name}" for fact in score.missed)
        yield from (f"extra  {number} {key[0]} {key[1]} {key[2]}" for key in score.extra)


def _join_scores(scores: Iterable[ClassScore]) -> ClassScore:
    figures = list(scores)
    return ClassScore(
        "all",
        sum(each.matched for each in figures),
        sum(each.missed for each in figures),
        sum(each.extra for each in figures),
    )
