"""Profiles in a terminal: one line for each, a table of what one holds, and YAML for a review."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import yaml

from bot.text import format_count
from impact.profile.models import Profile, Use, UseKind
from impact.text.strings import collapse_lines, truncate_text

if TYPE_CHECKING:
    # it imports the SDKs, for which help must not wait
    from bot.features.profiles.service import ProfileEntry
    from impact.clones.tree_scan import TreeScan

_MAX_GONE = 200
_MAX_UNREAD, _MAX_MODULES, _MAX_CLASSES, _MAX_LINES = 10, 12, 30, 20
_MODULE_KINDS = frozenset({UseKind.IMPORT, UseKind.CALL, UseKind.READ, UseKind.SUBCLASS, UseKind.PATCH})


# --- one that the bot keeps


def format_entry(entry: ProfileEntry) -> str:
    source = str(entry.source) if entry.source else "a file"
    scanned = f"{entry.refreshed_at:%Y-%m-%d %H:%M} UTC" if entry.refreshed_at else "not scanned yet"
    commit = f" at {entry.commit[:9]}" if entry.commit else ""
    counts = f"{format_count(entry.uses, 'use')} in {format_count(entry.files, 'file')} · "
    counts = counts if entry.refreshed_at or entry.uses else ""
    owners = f" · for {', '.join(entry.owners)}" if entry.owners else ""
    problem = f" · {collapse_lines(entry.problem)}" if entry.problem else ""
    return f"{entry.name}: {source}{commit} on {entry.upstream}{problem} · {counts}{scanned}{owners}"


def format_kept_profile(entry: ProfileEntry, profile: Profile | None, *, has_uses: bool) -> Iterator[str]:
    yield format_entry(entry)
    if profile is None:
        return
    yield from filter(None, [profile.coverage.explain_gaps(is_empty=not profile.uses)])
    yield f"Packages: {', '.join(profile.packages)}"
    for kind, count in Counter(use.kind for use in profile.uses).most_common():
        yield f"  {count:>6,}  {kind}"
    yield f"  {len(profile.classes):>6,}  classes with upstream ancestors"
    for file in profile.unread[:_MAX_UNREAD]:
        yield f"  not read: {collapse_lines(file.path)} ({file.reason})"
    if len(profile.unread) > _MAX_UNREAD:
        yield f"  and {format_count(len(profile.unread) - _MAX_UNREAD, 'other file')} not read"
    if has_uses:
        for use in sorted(profile.uses, key=lambda each: (each.path, each.line, each.name)):
            yield f"{use.path}:{use.line} {use.kind} {collapse_lines(use.name)}"


# --- one of a folder


def format_scan(scan: TreeScan) -> str:
    profile = scan.profile
    uses = [use for use in profile.uses if use.kind is not UseKind.COPY or use.definitions]
    at = f" at {profile.commit[:10]}" if profile.commit else ""
    classes = [
        (f"{each.path}:{each.line}", each.name.rpartition(".")[2], each.ancestors[0])
        for each in profile.classes.values()
    ]
    modules = Counter(
        ".".join((use.definitions or (use.name,))[0].split(".")[:4]) for use in uses if use.kind in _MODULE_KINDS
    )
    patches = [_make_row(use) for use in uses if use.kind is UseKind.PATCH and not use.is_test]
    copies = [_make_row(use) for use in uses if use.kind is UseKind.COPY]
    figures = f"{format_count(len(uses), 'use')} of {', '.join(profile.packages)}"
    head = f"{profile.name}{at}: {figures} in {format_count(profile.files, 'file')}"
    sections = (
        profile.coverage.explain_gaps(is_empty=not uses),
        "\n".join(filter(None, (head, scan.link))),
        _format_rows(
            f"Upstream no longer has, at its newest commit {scan.newest[:10]}",
            sorted({_make_row(use) for use in scan.gone}),
            _MAX_GONE,
        ),
        _format_kinds(uses),
        _format_rows(
            "What it uses most",
            [(name, f"{count:,}") for name, count in modules.most_common(_MAX_MODULES)],
            _MAX_MODULES,
        ),
        _format_rows("Classes that extend it", classes, _MAX_CLASSES),
        _format_rows("What it replaces", patches, _MAX_LINES),
        _format_rows("What it has a copy of", copies, _MAX_LINES),
        _format_rows("Unread", [(each.path, each.reason) for each in profile.unread], _MAX_LINES),
    )
    return "\n\n".join(filter(None, sections))


def _make_row(use: Use) -> tuple[str, str]:
    return f"{use.path}:{use.line}", use.name


def _format_kinds(uses: Sequence[Use]) -> str:
    total, tests, guarded = (
        Counter(use.kind for use in chosen)
        for chosen in (uses, [use for use in uses if use.is_test], [use for use in uses if use.is_guarded])
    )
    rows = [("it …", "uses", "in tests", "guarded")]
    rows += [(kind.value, f"{n:,}", f"{tests[kind]:,}", f"{guarded[kind]:,}") for kind, n in total.most_common()]
    return "\n".join(line.rstrip() for line in align_columns(rows))


def _format_rows(title: str, rows: Sequence[Sequence[str]], most: int) -> str:
    if not rows:
        return ""
    clean = [[truncate_text(collapse_lines(cell), 100) for cell in row] for row in rows[:most]]
    lines = [f"  {line.rstrip()}" for line in align_columns(clean)]
    more = [f"  and {len(rows) - most:,} more"] if len(rows) > most else []
    return "\n".join([f"{title}:", *lines, *more])


def format_profile_yaml(profile: Profile) -> str:
    """Format every use under its file, for people who review it."""
    files: dict[str, list[str]] = defaultdict(list)
    for use in sorted(profile.uses, key=lambda each: (each.path, each.line)):
        files[use.path].append(f"{use.line}: {use.kind.value} {use.name}{_format_marks(use)}")
    values = {
        "name": profile.name,
        "source": profile.source,
        "commit": profile.commit,
        "scanned_at": profile.scanned_at.isoformat(timespec="seconds"),
        "packages": list(profile.packages),
        "classes": {each.name: list(each.ancestors) for each in profile.classes.values()},
        "uses": dict(files),
        "unread": {each.path: each.reason for each in profile.unread},
    }
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=1000)


def _format_marks(use: Use) -> str:
    marks: Iterable[tuple[str, bool]] = (
        ("guarded", use.is_guarded),
        ("in a test", use.is_test),
    )
    words = ", ".join(word for word, holds in marks if holds)
    return f" ({words})" if words else ""


# --- tables of figures, in plain ASCII


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def replace_non_ascii(line: str) -> str:
    """Return the line with a question mark for each sign outside ASCII, as in the names of branches and paths."""
    return "".join(char if " " <= char <= "~" else "?" for char in line).rstrip()
