"""The source of a package in the version that the tree pins, for a model: its lines are not those of the tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

from bot.errors import PackageUnavailable, UsageError
from bot.platform.models.prompts import MAX_RESULT_LENGTH, join_items, limit_lines
from bot.platform.packages.wheels import WheelTexts, open_wheel
from bot.platform.source.excerpts import SourceExcerpt, list_uses, mark_lines, split_excerpt
from bot.platform.source.reading import (
    MAX_USES,
    NO_NAME,
    PullSource,
    fit_excerpts,
    select_lines,
    shorten_path,
    shorten_use,
)
from bot.text import format_count
from impact.source.models import SourceFile, SourceProblem
from impact.text.strings import quote_input, truncate_text

_MAX_NAMES_LENGTH = 1_500
_LOCKED_NAME = re.compile(r"\s*\"?name\"?\s*[=:]\s*\"([\w.-]{1,100})\"")
_LOCKED_VERSION = re.compile(r"\s*\"?version\"?\s*[=:]\s*\"([\w.!+-]{1,60})\"")
_PIN = re.compile(
    r"(?<![\w.-])([A-Za-z0-9][\w.-]{0,99})\s{0,9}(?:\[[\w., -]{0,200}\])?\s{0,9}==\s{0,9}([\w.!+-]{1,60})(\*?)"
)
_NO_QUOTES = "These lines are not of the repository: they can't be quoted, so name the package and the file."


def search_package(source: PullSource, package: str, version: str, name: str, *, is_part: bool) -> str:
    """Return the lines of a pinned package that have a name. Raises PrdigestError."""
    if not name:
        raise UsageError(NO_NAME)
    with _open_pinned(source, package, version) as (title, texts):
        uses, unread = list[str](), 0
        for path in texts.entries:
            data = texts.read_bytes(path)
            if data is None:
                unread += 1
            elif name.encode() in data:
                # only what has it is decoded and cleaned
                file = texts.read_file(path)
                unread += bool(file.problem)
                lines = file.lines
                uses += [
                    f"{path}:{number}: {shorten_use(lines[number - 1], name)}"
                    for number in list_uses(lines, name, is_part=is_part)
                ]
        source.provenance.add_search(f"{title} for {shorten_path(name)}")
        notes = _describe_gaps(source, title, texts, unread)
        count = format_count(len(uses), "line has", "lines have")
        about = f"{count} {quote_input(name)} in the {format_count(len(texts.entries), 'text file')} of {title}:"
    cut = [f"[cut: {len(uses) - MAX_USES} lines not shown]"] if len(uses) > MAX_USES else []
    lines = [*notes, _NO_QUOTES, about, *uses[:MAX_USES], *cut]
    return limit_lines(lines, MAX_RESULT_LENGTH, "line", "search for a longer name").text


def read_package(
    source: PullSource, package: str, version: str, path: str, first: int, last: int, around: str
) -> str:
    """Return lines of a file of a pinned package. Raises PrdigestError."""
    with _open_pinned(source, package, version) as (title, texts):
        file = texts.read_file(path)
        if file.problem:
            source.provenance.add_gap(f"{shorten_path(path)} of {title} ({file.problem})")
            return _explain_problem(file, title, texts)
        source.provenance.add_search(f"{shorten_path(path)} of {title}")
    numbers, head = select_lines(file, first, last, around)
    excerpts: list[SourceExcerpt] = [*fit_excerpts(split_excerpt(mark_lines(file, None), numbers))]
    shown = ("\n".join(f"{line.new}: {line.text}" for line in each.lines) for each in excerpts)
    hidden = len(numbers) - sum(len(each.lines) for each in excerpts)
    cut = f"[cut: {hidden} lines not shown; ask for fewer]" if hidden else ""
    about = f"{path} of {title}, {format_count(len(file.lines), 'line')}; {head} {_NO_QUOTES}"
    return "\n".join(filter(None, (about, "\n…\n".join(shown), cut)))


@contextmanager
def _open_pinned(source: PullSource, package: str, version: str) -> Iterator[tuple[str, WheelTexts]]:
    """Open the wheel of a package in the version that the tree pins. Raises UsageError, PackageUnavailable."""
    if source.packages is None:
        raise PackageUnavailable("Packages are not allowed to be read here: no package index is set.")
    name = canonicalize_name(package)
    files, unread = source.read_requirements()
    pins = find_pins(files, name)
    # what is not in the tree, a stranger could have chosen
    chosen = _parse_version(version) if version.strip() else next(iter(pins), None)
    if chosen not in pins or (not version.strip() and len(pins) > 1):
        raise UsageError(_explain_pins(source, name, pins, unread))
    path = source.packages.load_wheel(name, chosen)
    with open_wheel(path) as texts:
        yield f"{name} {chosen}", texts


def find_pins(files: Iterable[SourceFile], package: NormalizedName) -> dict[Version, str]:
    """Return the versions that lists of requirements pin a package to, each with its first place."""
    pins = dict[Version, str]()
    for file in files:
        locked = ""
        for number, line in enumerate(file.lines, 1):
            text = line[:2_000].partition(" #")[0]
            if text.lstrip().startswith("#"):
                continue
            pairs = [(pin[1], pin[2]) for pin in _PIN.finditer(text) if not pin[3]]
            if match := _LOCKED_VERSION.match(text):
                pairs.append((locked, match[1]))
            match = _LOCKED_NAME.match(text)
            locked = match[1] if match else ""
            for name, version_text in pairs:
                version = _parse_version(version_text)
                if version and canonicalize_name(name) == package:
                    pins.setdefault(version, f"{file.path}:{number}")
    return pins


def _parse_version(text: str) -> Version | None:
    try:
        return Version(text.strip())
    except InvalidVersion:
        return None


def _explain_pins(source: PullSource, name: str, pins: Mapping[Version, str], unread: list[str]) -> str:
    shown = quote_input(name)
    if not pins:
        could_not = " ".join(["", *unread])
        return (
            f"{shown} is not pinned to a version in the tree {source.where}, so its source is not allowed to be "
            f"read.{truncate_text(could_not, 600)}"
        )
    listed = join_items([f"{version} ({place})" for version, place in pins.items()], _MAX_NAMES_LENGTH)
    return f"Only versions that the tree pins are allowed to be read: name one of {shown}: {listed}."


def _describe_gaps(source: PullSource, title: str, texts: WheelTexts, unread: int) -> list[str]:
    """Return which files of a wheel were not searched, as lines."""
    left_out = {**texts.left_out, **({"damaged, or no UTF-8": unread} if unread else {})}
    if not left_out:
        return []
    reasons = "; ".join(f"{count:,} {why}" for why, count in left_out.items())
    source.provenance.add_gap(f"{format_count(sum(left_out.values()), 'file')} of {title}")
    return [f"Not read of {title}: {reasons}."]


def _explain_problem(file: SourceFile, title: str, texts: WheelTexts) -> str:
    if file.problem is not SourceProblem.MISSING:
        return f"{file.path} of {title} could not be read: {file.problem}."
    name = file.path.rpartition("/")[2]
    near = [path for path in texts.entries if path.rpartition("/")[2] == name] or [*texts.entries]
    not_read = sum(texts.left_out.values())
    others = f" {format_count(not_read, 'other file')} of it can't be read." if not_read else ""
    listed = join_items(near, _MAX_NAMES_LENGTH)
    return f"{quote_input(file.path)} is not among the text files of {title}.{others} There are: {listed}"
