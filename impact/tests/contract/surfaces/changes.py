"""Both versions of a file as tests write them, and rows as they read them."""

from textwrap import dedent

from impact.contract.models import ContractChange, FileVersions
from impact.contract.surfaces.comparison import list_surface_changes
from impact.source.models import SourceFile

Row = tuple[str, str, str]


def change(path: str, old: str | None, new: str | None) -> FileVersions:
    return FileVersions(_make_file(path, old), _make_file(path, new))


def _make_file(path: str, text: str | None) -> SourceFile | None:
    return None if text is None else SourceFile(path, dedent(text))


def compare(path: str, old: str, new: str) -> tuple[ContractChange, ...]:
    return list_surface_changes([change(path, old, new)])


def list_rows(*versions: FileVersions) -> list[Row]:
    return [(row.subject.value, row.kind.value, row.name) for row in list_surface_changes(versions)]


def list_kinds(path: str, old: str, new: str) -> list[tuple[str, str]]:
    return [(row.kind.value, row.name) for row in compare(path, old, new)]
