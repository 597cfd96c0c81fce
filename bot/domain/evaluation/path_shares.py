"""How many pull requests touch neither product nor build files, and which folders make it so many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClass, PathClasses

RATED = (PathClass.PRODUCT, PathClass.BUILD, PathClass.LOCK)
# of the merges of three repositories about a fifth touch no product; with a third a list was wrong
USUAL, TOO_MANY = 0.20, 0.30
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A folder (``examples/``) or kind of file (``*.yaml``), its class, and in how many pull requests it is."""

    pattern: str
    kind: PathClass
    pulls: int


@dataclass(frozen=True, slots=True)
class WithoutProduct:
    """The share of pull requests that the rules have nothing to say about, and what they touch, largest first."""

    share: float
    places: tuple[Place, ...]

    @property
    def is_too_much(self) -> bool:
        """Whether a class is likely to claim what is product in this repository."""
        return self.share > TOO_MANY


def without_product(pulls: Sequence[PullRequest], classes: PathClasses) -> WithoutProduct:
    """Of pull requests whose files are loaded."""
    silent = [pull for pull in pulls if not _is_rated(pull, classes)]
    counted = Counter(place for pull in silent for place in _places(pull, classes))
    most = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    places = tuple(Place(pattern, kind, count) for (pattern, kind), count in most)
    return WithoutProduct(len(silent) / len(pulls) if pulls else 0.0, places)


def _is_rated(pull: PullRequest, classes: PathClasses) -> bool:
    return any(classes.classify(file.path) in RATED for file in pull.files or ())


def _places(pull: PullRequest, classes: PathClasses) -> Iterable[tuple[str, PathClass]]:
    paths = (file.path for file in pull.files or ())
    return {(_pattern(path, classes), classes.classify(path)) for path in paths}


def _pattern(path: str, classes: PathClasses) -> str:
    """The highest folder that alone gives the path its class, else its extension or name."""
    kind, found = classes.classify(path), PurePosixPath(path)
    for folder in reversed(found.parents[:-1]):
        # source code anywhere else would be product
        if kind is not PathClass.OTHER and classes.classify(f"{folder}/x.py") is kind:
            return f"{folder}/"
    return f"*{found.suffix}" if found.suffix else found.name
