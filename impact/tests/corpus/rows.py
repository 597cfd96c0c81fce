"""Rows of a made-up upstream before and after a merge, and a team's code, with what the merge does to that code.

Each file of `rows/` is one class. A row begins with ``== name | verdict``; then follow the files of its sides:

    -- before [path]    upstream before the merge; without a path it is up/m.py
    -- after [path]     upstream after the merge, in the same way
    -- both path        a file that the merge does not change
    -- ours [path]      the team's code; without a path it is team/x.py

A row without ``before`` has the upstream of the row above, with its ``both``; one without ``after`` or ``ours``
has those of the row above. What is below site/ is installed beside upstream, and is not of it. The verdict is what
running the team's code shows: it ``breaks`` after the merge, it ``changes`` what it prints, or it is ``fine``.
After another ``|`` stands the level that is enough to say of what breaks or changes, and the most of what is fine.
"""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from impact.checker.diagnostics import Finding, Witness
from impact.clones.line_checks import check_line
from impact.contract.extraction import extract_contract
from impact.contract.models import FileVersions, MergeContract
from impact.git.clone_trees import open_clone_trees
from impact.profile.file_uses import scan_file
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.scan import build_profile
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.source.models import SourceFile
from impact.testing.clones import building
from impact.testing.touches import NOON
from impact.touches.judgement import list_touches
from impact.touches.models import Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex

FOLDER = Path(__file__).with_name("rows")
KNOWN_WRONG = Path(__file__).with_name("known_wrong.txt")
# the rules alone, and they with the type checker
JUDGES = ("rules", "both")
_ENOUGH = {"breaks": TouchLevel.BREAKS, "changes": TouchLevel.TOUCHES, "fine": TouchLevel.TOUCHES}
_LEVELS = {level.label: level for level in TouchLevel}
_USUAL = {"before": "up/m.py", "after": "up/m.py", "ours": "team/x.py", "both": ""}
# how alike git wants a file that it calls renamed
_RENAMED = 0.5

Files = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A situation. ``level`` is the least to say of what breaks or changes, the most of what is fine."""

    group: str
    name: str
    verdict: str
    level: TouchLevel
    before: Files
    after: Files
    ours: Files

    @property
    def full_name(self) -> str:
        return f"{self.group}: {self.name}"


def read_rows() -> list[Row]:
    return [row for path in sorted(FOLDER.glob("*.txt")) for row in _read_file(path.stem, path.read_text())]


def read_known_wrong() -> dict[str, list[str]]:
    """Return the names of the rows that are judged wrong, with the judges."""
    lines = (line.partition(" | ") for line in KNOWN_WRONG.read_text().splitlines())
    return {name: judges.split(", ") for name, _, judges in lines}


def list_wrong(rows: Sequence[Row], witnesses: Sequence[Witness] = ()) -> dict[str, list[str]]:
    """Return the names of the rows that the rules judge wrong, or they and the witnesses, with the judges."""
    wrong: dict[str, list[str]] = defaultdict(list)
    for judge, seen in zip(JUDGES, ([None] * len(rows), witnesses), strict=True):
        for row, witness in zip(rows, seen, strict=False):
            if not is_right(row, judge_row(row, witness)):
                wrong[row.full_name].append(judge)
    return dict(wrong)


def _read_file(group: str, text: str) -> Iterator[Row]:
    sides: dict[str, dict[str, str]] = {}
    for part in ("\n" + text).split("\n== ")[1:]:
        head, *sections = part.split("\n-- ")
        name, verdict, *level = head.strip().split(" | ")
        own: dict[str, dict[str, str]] = {}
        for section in sections:
            title, _, body = section.partition("\n")
            side, _, path = title.partition(" ")
            own.setdefault(side, {})[path or _USUAL[side]] = body.strip("\n") + "\n" if body.strip() else ""
        sides = {**sides, **({"both": {}} if "before" in own else {}), **own}
        before, after = ({**sides["both"], **sides[side]} for side in ("before", "after"))
        enough = _LEVELS[level[0]] if level else _ENOUGH[verdict]
        yield Row(group, name, verdict, enough, before, after, sides["ours"])


def prove_rows(rows: Sequence[Row], folder: Path) -> list[str]:
    """Run the team's code of each row before and after in folders of its own, and return the verdicts."""
    for number, row in enumerate(rows):
        for side, files in (("before", row.before), ("after", row.after), ("ours", row.ours)):
            _write_tree(folder / str(number) / side, files)
    jobs = [[str(folder / str(number)), [*row.ours]] for number, row in enumerate(rows)]
    line = [sys.executable, "-B", str(Path(__file__).with_name("run_rows.py"))]
    answer = subprocess.run(line, input=json.dumps(jobs), capture_output=True, text=True, check=True)
    return [_compare_runs(*runs) for runs in json.loads(answer.stdout)]


def _write_tree(folder: Path, files: Files) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for package in {each for path in files for each in PurePosixPath(path).parents}:
        init = folder / package / "__init__.py"
        if package.parts and package.parts[0] in {"up", "team"} and not init.exists():
            init.touch()


def _compare_runs(before: tuple[bool, str], after: tuple[bool, str]) -> str:
    if not before[0]:
        return f"it fails before: {before[1]}"
    if not after[0]:
        return "breaks"
    return "fine" if before == after else "changes"


def list_witnesses(rows: Sequence[Row], folder: Path) -> list[Witness]:
    """Return what the type checker says of each row; ``folder`` is a new one. Raises CheckerFailed without it.

    It looks at all rows at once: each has packages of its own, such as ``up_7``.
    """
    before, after = (
        {
            path: text.encode()
            for number, row in enumerate(rows)
            for path, text in _number_files(_complete(getattr(row, side)), number).items()
        }
        for side in ("before", "after")
    )
    with building(folder) as builder:
        commits = [
            builder.sha(builder.commit("Write it", files, branch=side))
            for side, files in (("before", before), ("after", after))
        ]
    team = [
        SourceFile(path, text)
        for number, row in enumerate(rows)
        for path, text in _number_files(row.ours, number).items()
    ]
    packages = [f"up_{number}" for number in range(len(rows))]
    with open_clone_trees(folder) as upstream:
        checked = check_line(upstream, team, packages, commits, (), {})
    assert not checked.alone, checked.sentence
    every = [(each.use.path, _restore_names(each)) for each in checked.findings.get(commits[1], ())]
    return [
        Witness(tuple(each for path, each in every if path.startswith(f"team_{number}/")), list(row.ours))
        for number, row in enumerate(rows)
    ]


def _number_files(files: Files, number: int) -> Files:
    names = re.compile(r"\b(up|team)\b")
    return {names.sub(rf"\1_{number}", path): names.sub(rf"\1_{number}", text) for path, text in files.items()}


def _restore_names(finding: Finding) -> Finding:
    def restore(text: str) -> str:
        return re.sub(r"\b(up|team)_\d+\b", r"\1", text)

    use, names = finding.use, tuple(map(restore, finding.names))
    use = replace(use, name=restore(use.name), path=restore(use.path), text=restore(use.text))
    return replace(finding, use=use, message=restore(finding.message), names=names)


def judge_row(row: Row, witness: Witness | None = None) -> TouchLevel:
    """Return what the rules say of a row, and with a witness what both say."""
    return max((touch.level for touch in list_row_touches(row, witness)), default=TouchLevel.NO)


def list_row_touches(row: Row, witness: Witness | None = None) -> tuple[Touch, ...]:
    scans = [scan_file(path, text, ("up",)) for path, text in row.ours.items()]
    profile = build_profile("team", "folder", "", NOON, ("up",), scans)
    outlines = dict(_list_outlines(_complete(row.before)))
    linked = link_profile(profile, UpstreamIndex(outlines.get))
    return list_touches(extract_row(row), ProfileIndex(linked), witness)


def extract_row(row: Row) -> MergeContract:
    """Return what the rules say that a row's merge changes."""
    before, after = _complete(row.before), _complete(row.after)
    outlines = dict(_list_outlines(after))

    def find_lines(names: Collection[str]) -> list[tuple[str, str]]:
        lines = ((path, line) for path, text in after.items() for line in text.splitlines())
        return [(path, line) for path, line in lines if any(name in line for name in names)]

    facts, versions = MergeContract(1, "0" * 40, NOON, "Change it"), list(_list_versions(before, after))
    return extract_contract(facts, versions, outlines.get, find=find_lines)


def _complete(files: Files) -> Files:
    """Return the files of upstream as a clone has them."""
    own = {path: text for path, text in files.items() if not path.startswith("site/")}
    packages = {each for path in own if path.endswith(".py") for each in PurePosixPath(path).parents if each.name}
    return {**{f"{package}/__init__.py": "" for package in packages}, **own}


def _list_versions(before: Files, after: Files) -> Iterator[FileVersions]:
    """Yield the changed files; one that is much like one that is gone is that one, renamed, as git has it."""
    gone = [path for path in before if path not in after]
    for path, text in after.items():
        if path in before:
            if text != before[path]:
                yield FileVersions(SourceFile(path, before[path]), SourceFile(path, text))
            continue
        alike = [(difflib.SequenceMatcher(None, before[old], text).ratio(), old) for old in gone]
        likeness, old = max(alike, default=(0.0, ""))
        if likeness >= _RENAMED:
            gone.remove(old)
        yield FileVersions(SourceFile(old, before[old]) if likeness >= _RENAMED else None, SourceFile(path, text))
    yield from (FileVersions(SourceFile(path, before[path]), None) for path in gone)


def _list_outlines(files: Files) -> Iterator[tuple[str, ModuleOutline | None]]:
    for path, text in files.items():
        if named := name_module(path):
            yield named[0], build_outline(path, text)


def is_right(row: Row, level: TouchLevel) -> bool:
    return level <= row.level if row.verdict == "fine" else level >= row.level
