"""What a team adds to its profile and leaves out of it by hand, in a small YAML file."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from impact.errors import UsageError
from impact.path_globs import PathGlobs
from impact.profile.models import Profile, Use, UseKind
from impact.text.strings import collapse_lines, quote_input, truncate_text

# bytes of the file; entries of a list; lists in lists
MAX_BYTES, _MAX_ENTRIES, _MAX_DEPTH = 100_000, 1_000, 6
_MAX_TEXT = 300
_MANUAL_PATH = "added by hand"


def _read_kind(text: object) -> object:
    name = str(text).strip()
    by_name = {kind.name.lower(): kind for kind in UseKind} | {kind.value: kind for kind in UseKind}
    kind = by_name.get(name.lower())
    if kind is None:
        known = ", ".join(each.name.lower() for each in UseKind)
        raise ValueError(f"{quote_input(name)} is no kind: write one of {known}")
    return kind


_Text = Annotated[str, Field(min_length=1, max_length=_MAX_TEXT)]


class AddedUse(BaseModel, extra="forbid", frozen=True):
    """A use that the scan can't see."""

    kind: Annotated[UseKind, BeforeValidator(_read_kind)]
    name: _Text
    note: Annotated[str, Field(max_length=_MAX_TEXT)] = ""


class IgnoredUse(BaseModel, extra="forbid", frozen=True):
    """Uses that don't count: by their name, or by the path of the file, as patterns."""

    name: Annotated[str, Field(max_length=_MAX_TEXT)] = ""
    path: Annotated[str, Field(max_length=_MAX_TEXT)] = ""
    reason: _Text


class ManualFile(BaseModel, extra="forbid", frozen=True):
    """The whole file. ``explain``: what may enter a prompt: names, paths and used lines, or nothing."""

    add: Annotated[tuple[AddedUse, ...], Field(max_length=_MAX_ENTRIES)] = ()
    ignore: Annotated[tuple[IgnoredUse, ...], Field(max_length=_MAX_ENTRIES)] = ()
    explain: Literal["off", "lines"] = "lines"


def parse_manual(text: str) -> ManualFile:
    """Return what a file says. Raises UsageError, which says what to change."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise UsageError(f"The profile file has more than {MAX_BYTES:,} bytes: shorten it.")
    try:
        manual = ManualFile.model_validate(_load_yaml(text) or {})
    except ValidationError as error:
        raise UsageError(f"The profile file is wrong at {_describe(error)}.") from error
    for number, rule in enumerate(manual.ignore, 1):
        if not rule.name and not rule.path:
            raise UsageError(f"The profile file is wrong at ignore.{number}: write a name or a path.")
        try:
            PathGlobs([_as_path(rule.name), rule.path])
        except re.error as error:
            raise UsageError(f"The profile file is wrong at ignore.{number}: a range in it is wrong.") from error
    return manual


def apply_manual(profile: Profile, manual: ManualFile) -> Profile:
    """Return a profile with what was added by hand, without what is ignored, and open to a model or not."""
    paths = PathGlobs(rule.path for rule in manual.ignore if not rule.name)
    rules = [
        (PathGlobs([_as_path(rule.name)]), PathGlobs([rule.path or "*"])) for rule in manual.ignore if rule.name
    ]

    def is_ignored(use: Use) -> bool:
        keys = [_as_path(name) for name in (use.name, *use.definitions)]
        if paths.has_match(use.path):
            return True
        return any(path.has_match(use.path) and any(map(name.has_match, keys)) for name, path in rules)

    kept = [use for use in profile.uses if not is_ignored(use)]
    kept += [Use(each.kind, each.name, _MANUAL_PATH, 0, collapse_lines(each.note)) for each in manual.add]
    return replace(
        profile,
        uses=tuple(dict.fromkeys(kept)),
        classes={name: each for name, each in profile.classes.items() if not paths.has_match(each.path)},
        explains=manual.explain != "off",
    )


class _PlainLoader(yaml.BaseLoader):
    """A loader of texts, lists and tables only: no aliases, which grow without bound, and no deep ones."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _load_yaml(text: str) -> object:
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 (it makes nothing but texts, lists and tables)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = truncate_text(collapse_lines(str(error)), 200)
        raise UsageError(f"The profile file is no YAML that can be read: {reason}.") from error


def _describe(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"]) or "its top"
    return f"{truncate_text(place, 100)}: {truncate_text(collapse_lines(first['msg']), 300)}"


def _as_path(name: str) -> str:
    """Return a dotted name as a path, so that patterns for paths match it."""
    return name.replace(".", "/")
