"""The folder of a trial: what was asked, answered, compared and judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.errors import UsageError
from evals.json_files import Part, read_part

Side = Literal["ours", "theirs"]
_TEXTS = Path(__file__).parent


class TrialPull(Part):
    number: int
    date: str
    key: str


class Trial(Part):
    """What a trial is made of: the days, the rule of choice, and the chosen pull requests.

    ``merges`` counts the merges of each day by date, ``source`` is ``records`` or ``github``.
    """

    repository: str
    timezone: str
    source: Literal["records", "github"]
    instructions: str
    sample: int
    seed: int
    merges: dict[str, int]
    pulls: tuple[TrialPull, ...]


class Pair(Part):
    """Two texts about one pull request, and what a judge needs. Nothing in it says whose text is whose."""

    number: int
    title: str
    url: str
    merge_commit: str
    description: str
    A: str
    B: str
    files: tuple[dict[str, Any], ...]


class Key(Part):
    """Whose text is A, by number. ``secret`` decides it, so that the same pairs are made again."""

    secret: str
    first: dict[int, Side]


@dataclass(frozen=True, slots=True)
class TrialFolder:
    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / "trial.json"

    @property
    def key(self) -> Path:
        return self.path / "key.json"

    def get_file(self, kind: str, number: int) -> Path:
        return self.path / kind / f"{number}.json"

    def read_trial(self) -> Trial:
        """Read the record of the trial. Raises UsageError."""
        if not self.manifest.is_file():
            raise UsageError(f"{self.path} is no trial: begin with collect.")
        return read_part(self.manifest, Trial)

    def read_key(self) -> Key | None:
        """Read whose text is whose; None before there are pairs. Raises UsageError."""
        return read_part(self.key, Key) if self.key.is_file() else None


def copy_text(name: str, to: Path) -> None:
    """Copy instructions that stand beside this module into a folder that exists."""
    to.write_text((_TEXTS / name).read_text(encoding="utf-8"), encoding="utf-8")
