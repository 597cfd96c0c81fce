"""The share of pull requests that touch neither product nor build files, and the folders responsible for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClass, PathClasses

RATED_CLASSES = (PathClass.PRODUCT, PathClass.BUILD, PathClass.LOCK)
# shares: in three repositories about a fifth of the merges touch no product; with a third a list was wrong
USUAL_SHARE, MAX_SHARE = 0.20, 0.30
_MAX_PLACES = 5


@dataclass(frozen=True, slots=True)
class PathShare:
    """A folder (``examples/``) or kind of file (``*.yaml``), its class, and how many pull requests touch it."""

    pattern: str
    kind: PathClass
    pulls: int


@dataclass(frozen=True, slots=True)
class NonProductShare:
    """The share of pull requests to which no rule applies, and the places that they touch, most frequent first."""

    share: float
    places: tuple[PathShare, ...]

    @property
    def is_too_large(self) -> bool:
        """Whether a path class probably contains product code of this repository."""
        return self.share > MAX_SHARE


def measure_non_product_share(pulls: Sequence[PullRequest], classes: PathClasses) -> NonProductShare:
    """Measure the share for pull requests whose files are loaded."""
    silent = [pull for pull in pulls if not _is_rated(pull, classes)]
    counted = Counter(place for pull in silent for place in _list_places(pull, classes))
    most = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_MAX_PLACES]
    places = tuple(PathShare(pattern, kind, count) for (pattern, kind), count in most)
    return NonProductShare(len(silent) / len(pulls) if pulls else 0.0, places)


def _is_rated(pull: PullRequest, classes: PathClasses) -> bool:
    return any(classes.classify_path(file.path) in RATED_CLASSES for file in pull.files or ())


def _list_places(pull: PullRequest, classes: PathClasses) -> Iterable[tuple[str, PathClass]]:
    paths = (file.path for file in pull.files or ())
    return {(_generalize_path(path, classes), classes.classify_path(path)) for path in paths}


def _generalize_path(path: str, classes: PathClasses) -> str:
    """Return the highest folder that alone determines the class of the path, else its extension or name."""
    kind, file = classes.classify_path(path), PurePosixPath(path)
    for folder in reversed(file.parents[:-1]):
        # source code elsewhere would be product
        if kind is not PathClass.OTHER and classes.classify_path(f"{folder}/x.py") is kind:
            return f"{folder}/"
    return f"*{file.suffix}" if file.suffix else file.name
