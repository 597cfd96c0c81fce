from collections.abc import Mapping
from datetime import UTC, datetime
from textwrap import dedent

from impact.contract.models import ChangeKind, ContractChange, FileVersions, MergeContract
from impact.contract.python.python_changes import compare_python
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.source.models import SourceFile

Files = Mapping[str, str]


def versions_of(before: Files, after: Files, renamed: Mapping[str, str] | None = None) -> list[FileVersions]:
    """The changed files of a merge; ``renamed`` has the new paths of renamed ones."""
    moves = renamed or {}
    pairs = [(old, moves.get(old, old)) for old in before]
    pairs += [(path, path) for path in after if path not in {new for _, new in pairs}]
    return [FileVersions(_file(old, before), _file(new, after)) for old, new in pairs]


def compare(
    before: Files, after: Files, unchanged: Files | None = None, renamed: Mapping[str, str] | None = None
) -> MergeContract:
    others = {
        name: outline for path, text in (unchanged or {}).items() for name, outline in [_outline(path, text)]
    }
    merge = MergeContract(1, "a" * 40, datetime(2026, 1, 1, tzinfo=UTC))
    return compare_python(merge, versions_of(before, after, renamed), others.get)


def rows_of(
    before: Files, after: Files, unchanged: Files | None = None, renamed: Mapping[str, str] | None = None
) -> list[str]:
    """The rows of a merge as short texts: class, kind, name, where it went, whether the old name works."""
    return [show(each) for each in compare(before, after, unchanged, renamed).changes if is_loud(each)]


def show(row: ContractChange) -> str:
    target = f" -> {row.new_name}" if row.new_name else ""
    return f"{row.subject} {row.kind} {row.name}{target}{' (still works)' if row.is_importable else ''}"


def is_loud(row: ContractChange) -> bool:
    return row.kind is not ChangeKind.BEHAVIOUR


def _file(path: str, files: Files) -> SourceFile | None:
    return SourceFile(path, dedent(files[path])) if path in files else None


def _outline(path: str, text: str) -> tuple[str, ModuleOutline | None]:
    name = name_module(path)
    assert name
    return name[0], build_outline(path, dedent(text))
