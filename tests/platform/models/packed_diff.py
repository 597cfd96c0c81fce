"""Reads a packed diff back, as a model would: which lines of which file it shows, and what it owns up to."""

import re
from dataclasses import dataclass, field

from hypothesis import strategies as st

from bot.platform.pulls.models import ChangedFile
from tests.helpers.builders import changed_file

_REST = re.compile(r"\[the rest of this file is not shown: (-?\d+) changed lines\]")


@dataclass
class Shown:
    lines: list[str] = field(default_factory=list)
    unseen: int = 0

    @property
    def changes(self) -> list[str]:
        return [line for line in self.lines if line[:1] in ("+", "-")]


def shown_in(text: str) -> dict[str, Shown]:
    shown_files: dict[str, Shown] = {}
    path = ""
    for line in text.split("\n"):
        if line.startswith("=== "):
            path = line[4:].split(" (")[0]
            shown_files[path] = Shown()
        elif rest := _REST.fullmatch(line):
            shown_files[path].unseen = int(rest[1])
        elif path and not line.startswith("["):
            shown_files[path].lines.append(line)
    return shown_files


def long_file(path: str, lines: int, width: int = 40, **fields: object) -> ChangedFile:
    body = [f"+{n:06} {'x' * width}" for n in range(lines)]
    patch = "\n".join([f"@@ -0,0 +1,{lines} @@", *body])
    return changed_file(path, lines, 0, **{"patch": patch, **fields})


def with_context(path: str, changes: int, around: int = 3) -> ChangedFile:
    """A file in which lines of context stand before and after every changed line."""
    block = [f" context above {n} of {path}" for n in range(around)]
    below = [f" context below {n} of {path}" for n in range(around)]
    lines = [line for n in range(changes) for line in (*block, f"+changed {n:04} of {path}", *below)]
    patch = "\n".join([f"@@ -1,{len(lines) - changes} +1,{len(lines)} @@", *lines])
    return changed_file(path, changes, 0, patch=patch)


PATHS = (
    "engine/core.py csrc/kernel.cu setup.py scripts/run.sh tests/test_core.py .github/ci.yml docs/a.md"
    " data.bin vendor/lib.py uv.lock web/a\u00a0b.ts ui/\N{SNOWMAN}.tsx"
).split(" ")


@st.composite
def files(draw: st.DrawFn) -> ChangedFile:
    """A file as GitHub may list it: with a patch, too large for one, or without lines."""
    number, folder = draw(st.integers(0, 10_000)), draw(st.sampled_from(PATHS))
    path = f"{'d' * draw(st.integers(0, 60))}{number}/{folder}"
    match draw(st.sampled_from(["long", "long", "context", "too large", "renamed", "binary"])):
        case "long":
            return long_file(path, draw(st.integers(1, 200)), draw(st.integers(0, 120)))
        case "context":
            return with_context(path, draw(st.integers(1, 60)), draw(st.integers(0, 6)))
        case "too large":
            return changed_file(path, draw(st.integers(1, 90_000)), draw(st.integers(0, 90_000)), patch=None)
        case "renamed":
            return changed_file(path, 0, 0, status="renamed", previous_path="old.py", patch=None)
        case _:
            return changed_file(path, 0, 0, status="added", patch=None)


def many_files(most: int = 40) -> st.SearchStrategy[list[ChangedFile]]:
    return st.lists(files(), max_size=most, unique_by=lambda file: file.path)
