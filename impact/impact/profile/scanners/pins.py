"""Versions that a file pins: of upstream everywhere, of other packages in lists of requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from impact.profile.scanned import FileText

_MAX_LINE = 1000
# lines of a table or an entry of a lock file that belong to the package that it names
_MAX_ENTRY = 60
_REQUIREMENT = re.compile(
    r"^[\s\"'-]{0,20}([A-Za-z0-9][A-Za-z0-9._-]{0,80})(?:\[[\w,. -]{0,80}\])?"
    r"\s{0,3}(?:===?|>=|<=|~=|!=|<|>)\s{0,3}\d",
    re.A,
)
_SEPARATORS = re.compile(r"[-_.]+", re.A)
# what a line of a table or an entry says of its package: the commit, the tag or the version
_VALUE = re.compile(
    r"^\s{0,40}-?\s{0,4}[\"']?(?:version|tag|newTag|rev|revision|ref|reference|resolved_reference|commit|branch|digest)"
    r"[\"']?\s{0,4}[:=]\s{0,4}[\"']?[\w=~^]|^\s{0,40}source\s?=\s?\{\s?git\s?=",
    re.A,
)
_ENTRY_END = re.compile(r"^\s{0,40}(?:\[\[|-?\s{0,4}[\"']?(?:name|repository|newName)[\"']?\s{0,4}[:=])", re.A)


@dataclass(frozen=True, slots=True)
class _PinPatterns:
    line: re.Pattern[str]
    entry: re.Pattern[str]


def list_pins(file: FileText) -> Iterator[tuple[str, int]]:
    """Yield the names of the packages that a file pins, with their lines, each line once."""
    patterns = _get_patterns(file.packages)
    is_list = _lists_requirements(file.path)
    package, last = "", 0
    for number, line in enumerate(file.lines, 1):
        if len(line) > _MAX_LINE or line.lstrip().startswith("#"):
            continue
        begins = patterns.entry.search(line)
        if begins:
            package, last = _choose_package(begins[0], file), number + _MAX_ENTRY
        elif number > last or _ENTRY_END.match(line):
            package = ""
        match = patterns.line.search(line)
        requirement = _REQUIREMENT.match(line) if is_list else None
        if match:
            yield _choose_package(match[0], file), number
        elif requirement:
            yield _SEPARATORS.sub("-", requirement[1]).lower(), number
        elif package and not begins and _VALUE.match(line):
            yield package, number


def _choose_package(text: str, file: FileText) -> str:
    plain = _SEPARATORS.sub("_", text.lower())
    return next((each for each in file.packages if _SEPARATORS.sub("_", each.lower()) in plain), file.packages[0])


@lru_cache(maxsize=16)
def _get_patterns(packages: tuple[str, ...]) -> _PinPatterns:
    """Return the patterns for some packages. All of them take linear time."""
    names = "|".join(re.escape(each).replace("_", "[-_]") for each in packages) or "(?!)"
    upper = "|".join(re.escape(each.upper()).replace("\\-", "_") for each in packages) or "(?!)"
    begin = r"(?<![\w./-])"
    extras, image = (
        r"(?:\[[\w,. -]{0,80}\])?\s{0,3}",
        rf"(?:[\w.-]{{1,80}}/){{0,4}}(?:{names})(?:-[a-z]{{2,30}})?[\"']?\s*$",
    )
    forms = (
        rf"{begin}(?:{names}){extras}(?:===?|>=|<=|~=|<|>|!=)\s{{0,3}}v?\d[\w.+!*]{{0,40}}",
        # a direct reference, a reference of git, an archive or a wheel
        rf"{begin}(?:{names}){extras}@\s{{0,3}}(?:git\+)?[a-z]{{2,8}}://",
        rf"\bgit\+[a-z]{{2,8}}://[^\s\"'#]{{1,200}}/(?:{names})(?:\.git)?(?![\w-])",
        rf"#egg=(?:{names})(?![\w-])",
        rf"/(?:{names})/(?:archive|releases/download|tarball|zipball)/",
        rf"/(?:{names})-\d[\w.+]{{1,60}}(?:-|\.tar)",
        # a dependency in TOML
        (
            rf"^\s{{0,20}}[\"']?(?:{names})[\"']?\s?=\s?"
            r"(?:[\"'][=~^<>! ]{0,4}v?\d|\{[^{}]{0,300}\b(?:git|rev|tag|version)\s?=)"
        ),
        # a dependency of conda
        rf"^\s{{0,20}}-\s{{1,4}}[\"']?(?:[\w-]{{1,60}}::)?(?:{names})\s?=\s?\d",
        # an image
        (
            rf"(?:(?<![\w.-])(?:{names})-[a-z]{{2,30}}|\b(?:FROM|image:)\s{{1,8}}[\"']?(?:{names})|/(?:{names}))"
            r"(?::\w[\w.-]{0,100}|@sha256:[0-9a-f]{64})"
        ),
        (
            rf"(?<![\w./])(?:{upper}|{names})_?(?:[A-Za-z]{{1,12}}_){{0,2}}"
            r"(?i:TAG|VERSION|COMMIT|HASH|REF|SHA|REV|REVISION|BRANCH|RELEASE)\s?[:?]?[:=]\s?['\"\[]?[\w.]{3,60}"
        ),
    )
    entries = (
        rf"^\s{{0,40}}-?\s{{0,4}}[\"']?(?:name|newName)[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?{image}",
        rf"^\s{{0,40}}(?:image)?[rR]epository:\s{{0,4}}[\"']?{image}",
        rf"^\[[\w.-]{{1,80}}\.(?:{names})\]",
        rf"^\s{{0,40}}\"(?:{names})\"\s?:\s?\{{",
    )
    return _PinPatterns(re.compile("|".join(forms), re.A), re.compile("|".join(entries), re.A))


# --- what a pinning line names

_HASH = re.compile(r"(?<![0-9a-f])(?=[0-9]{0,39}[a-f])[0-9a-f]{7,40}(?![0-9a-z])", re.A)
_VERSION = re.compile(
    r"(?P<operator>[=~<>!^]{0,3})[\s\"']{0,4}"
    r"(?<![\w.])v?(?P<version>\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?(?:rc|post|a|b)\d{1,3})?)"
    r"(?![\d.]*\d|[a-z]|\.dev)",
    re.A,
)
# bounds, of which a version is not the one in use
_BOUNDS = ("<", ">", "!", "^")


def read_revisions(text: str, package: str) -> tuple[str, ...]:
    """Return the commit that a line pins, or the tags that its version may have; none for a bound or a branch."""
    at = text.lower().find(package.lower())
    rest = text[max(at, 0) :].partition("sha256:")[0].partition(" #")[0]
    for version in _VERSION.finditer(rest):
        if version["operator"].startswith(_BOUNDS):
            return ()
        return f"v{version['version']}", version["version"]
    return tuple(_HASH.findall(rest)[-1:])


def _lists_requirements(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    is_text = name.endswith((".txt", ".in")) and ("requirements" in path.lower() or "constraints" in name)
    return is_text or name in {"pyproject.toml", "setup.cfg"}
