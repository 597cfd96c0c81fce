"""A profile as a table for a terminal, and as YAML for a review."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import yaml

from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.render.plain_table import align_columns
from impact.profile.models import Profile, Use, UseKind

_MOST_MODULES, _MOST_CLASSES, _MOST_LINES = 12, 30, 20
_MODULE_KINDS = frozenset({UseKind.IMPORT, UseKind.CALL, UseKind.READ, UseKind.SUBCLASS, UseKind.PATCH})


def format_profile(profile: Profile) -> str:
    """Format a profile as its figures, the modules it uses most, its classes, patches and unread files."""
    return "\n\n".join(filter(None, _list_sections(profile)))


def format_profile_yaml(profile: Profile) -> str:
    """Format every use under its file, for people who review it."""
    files: dict[str, list[str]] = defaultdict(list)
    for use in sorted(profile.uses, key=lambda each: (each.path, each.line)):
        files[use.path].append(f"{use.line}: {use.kind.value} {use.name}{_list_marks(use)}")
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


def _list_sections(profile: Profile) -> Iterator[str]:
    uses = [use for use in profile.uses if use.kind is not UseKind.COPY or use.definitions]
    at = f" at {profile.commit[:10]}" if profile.commit else ""
    yield (
        f"{profile.name}{at}: {format_count(len(uses), 'use')} of {', '.join(profile.packages)} "
        f"in {format_count(profile.files, 'file')}"
    )
    yield _format_kinds(uses)
    yield _format_modules(uses)
    classes = [
        (f"{each.path}:{each.line}", each.name.rpartition(".")[2], each.ancestors[0])
        for each in profile.classes.values()
    ]
    yield _format_rows("Classes that extend it", classes, _MOST_CLASSES)
    patches = [use for use in uses if use.kind is UseKind.PATCH and not use.is_test]
    yield _format_rows("What it replaces", [_make_row(use) for use in patches], _MOST_LINES)
    copies = [use for use in uses if use.kind is UseKind.COPY]
    yield _format_rows("What it has a copy of", [_make_row(use) for use in copies], _MOST_LINES)
    yield _format_rows("Unread", [(each.path, each.reason) for each in profile.unread], _MOST_LINES)


def _format_kinds(uses: Sequence[Use]) -> str:
    total, tests, guarded = (
        Counter(use.kind for use in chosen)
        for chosen in (uses, [use for use in uses if use.is_test], [use for use in uses if use.is_guarded])
    )
    rows = [("it …", "uses", "in tests", "guarded")]
    rows += [(kind.value, f"{n:,}", f"{tests[kind]:,}", f"{guarded[kind]:,}") for kind, n in total.most_common()]
    return "\n".join(line.rstrip() for line in align_columns(rows))


def _format_modules(uses: Iterable[Use]) -> str:
    modules: Counter[str] = Counter()
    for use in uses:
        if use.kind in _MODULE_KINDS:
            modules[".".join((use.definitions or (use.name,))[0].split(".")[:4])] += 1
    rows = [(name, f"{count:,}") for name, count in modules.most_common(_MOST_MODULES)]
    return _format_rows("What it uses most", rows, _MOST_MODULES)


def _format_rows(title: str, rows: Sequence[Sequence[str]], most: int) -> str:
    if not rows:
        return ""
    clean = [[truncate_text(collapse_lines(cell), 100) for cell in row] for row in rows[:most]]
    lines = [f"  {line.rstrip()}" for line in align_columns(clean)]
    more = [f"  and {len(rows) - most:,} more"] if len(rows) > most else []
    return "\n".join([f"{title}:", *lines, *more])


def _make_row(use: Use) -> tuple[str, str]:
    return f"{use.path}:{use.line}", use.name


def _list_marks(use: Use) -> str:
    marks = [
        word
        for word, holds in (("guarded", use.is_guarded), ("a guess", use.is_guess), ("in a test", use.is_test))
        if holds
    ]
    return f" ({', '.join(marks)})" if marks else ""
