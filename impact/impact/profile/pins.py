"""Versions that a file pins: of upstream everywhere, of other packages in lists of requirements."""

from __future__ import annotations

import json
import re
import tomllib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

import yaml

from impact.profile.plain_uses import MAX_LINE, FileText

# lines of a table or an entry of a lock file that belong to the package that it names
_MAX_ENTRY = 60
_REQUIREMENT = re.compile(
    r"(?:(?P<quote>[\"'])|^[\s-]{0,20})(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,80})(?:\[[\w,. -]{0,80}\])?"
    r"\s{0,3}(?:===?|>=|<=|~=|!=|<|>)\s{0,3}\d",
    re.A,
)
_REVISION = re.compile(
    r"v?\d{1,4}(?:\.\d{1,4}){1,3}[\w.+-]{0,20}|(?P<commit>(?=\d{0,39}[a-f])[0-9a-f]{7,40})", re.A
)
_WORD = re.compile(r"[a-z]+")
_SEPARATORS = re.compile(r"[-_.]+", re.A)
# what a line of a table or an entry says of its package: the commit, the tag or the version
_VALUE = re.compile(
    r"^\s{0,40}-?\s{0,4}[\"']?(?:version|tag|newTag|rev|revision|ref|reference|resolved_reference"
    r"|commit(?:[-_]id)?|branch|digest)[\"']?\s{0,4}[:=]\s{0,4}[\"']?[\w=~^]|^\s{0,40}source\s?=\s?\{\s?git\s?="
    r"|^\s{0,40}GIT_TAG\s{1,8}\w",
    re.A,
)
_ENTRY_END = re.compile(r"^\s{0,40}(?:\[\[|-?\s{0,4}[\"']?(?:name|repository|newName)[\"']?\s{0,4}[:=])", re.A)


def list_pins(file: FileText) -> Iterator[tuple[str, int]]:
    """Yield the names of the packages that a file pins, with their lines, each name once a line."""
    pin, entry = _get_patterns(file.packages)
    is_list, is_code = _lists_requirements(file.path), file.path.endswith(".py")
    package, last = "", 0
    if name := _name_whole_pin(file):
        yield name
    for number, line in enumerate(file.lines, 1):
        if len(line) > MAX_LINE or line.lstrip().startswith("#"):
            continue
        begins = entry.search(line)
        if begins:
            package, last = _choose_package(begins[0], file), number + _MAX_ENTRY
        elif number > last or _ENTRY_END.match(line):
            package = ""
        match = pin.search(line)
        names = [_choose_package(match[0], file)] if match else []
        for each in _REQUIREMENT.finditer(line) if is_list else ():
            # what is compared in code is no requirement
            if (each["quote"] or not is_code) and not (
                match and match.start() <= each.start("name") < match.end()
            ):
                names.append(_SEPARATORS.sub("-", each["name"]).lower())
        if not names and package and not begins and _VALUE.match(line):
            names = [package]
        yield from ((name, number) for name in dict.fromkeys(names))


def _name_whole_pin(file: FileText) -> tuple[str, int] | None:
    """Return the package and line of a file that is a pin as a whole, as of the last commit that was verified."""
    told = [each for each in enumerate(file.lines, 1) if each[1].strip() and not each[1].lstrip().startswith("#")]
    if len(told) != 1 or not (revision := _REVISION.fullmatch(told[0][1].strip())):
        return None
    # in a folder of that name, a version may be the team's own
    path = file.path if revision["commit"] else PurePosixPath(file.path).name
    words = set(_WORD.findall(path.lower()))
    named = (each for each in file.packages if set(_WORD.findall(each.lower())) <= words)
    name = next(named, file.packages[0] if file.packages and "upstream" in words else "")
    return (name, told[0][0]) if name else None


def _choose_package(text: str, file: FileText) -> str:
    plain = _SEPARATORS.sub("_", text.lower())
    return next((each for each in file.packages if _SEPARATORS.sub("_", each.lower()) in plain), file.packages[0])


@lru_cache(maxsize=16)
def _get_patterns(packages: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds pins of some packages, and entries of lists that name one. Both take linear time."""
    names = "|".join(re.escape(each).replace("_", "[-_]") for each in packages) or "(?!)"
    upper = "|".join(re.escape(each.upper()).replace("\\-", "_") for each in packages) or "(?!)"
    begin = r"(?<![\w./-])"
    extras, image = (
        r"(?:\[[\w,. -]{0,80}\])?\s{0,3}",
        rf"(?:[\w.-]{{1,80}}/){{0,4}}(?:{names})(?:-[a-z]{{2,30}})?[\"']?[,;]?\s*$",
    )
    forms = (
        rf"{begin}(?:{names}){extras}\(?(?:===?|>=|<=|~=|<|>|!=)\s{{0,3}}v?\d[\w.+!*]{{0,40}}",
        # a direct reference, a reference of git, an archive or a wheel
        rf"{begin}(?:{names}){extras}@\s{{0,3}}(?:git\+)?[a-z]{{2,8}}://",
        rf"\bgit\+[a-z]{{2,8}}://[^\s\"'#]{{1,200}}/(?:{names})(?:\.git)?(?![\w-])",
        rf"#egg=(?:{names})(?![\w-])",
        rf"/(?:{names})/(?:archive|releases/download|tarball|zipball)/",
        rf"/(?:{names})-\d[\w.+]{{1,60}}(?:-|\.tar)",
        # a source of Docker, a clone of git, an input of Nix
        rf"/(?:{names})(?:\.git)?#(?:v?\d|[0-9a-f]{{7,40}}(?!\w))",
        (
            rf"\bgit clone (?=[^\n]{{0,300}}/(?:{names})(?:\.git)?(?![\w-]))"
            r"(?=[^\n]{0,400}?(?:(?<= )-b |--branch[ =]|git checkout \w))"
        ),
        rf"\bgithub:[\w.-]{{1,80}}/(?:{names})/\w",
        # a dependency in TOML
        (
            rf"^\s{{0,20}}[\"']?(?:{names})[\"']?\s?=\s?"
            r"(?:[\"'][=~^<>! ]{0,4}v?\d|\{[^{}]{0,300}\b(?:git|rev|tag|version)\s?=)"
        ),
        # a dependency of conda
        rf"^\s{{0,20}}-\s{{1,4}}[\"']?(?:[\w-]{{1,60}}::)?(?:{names})(?:\s?=\s?\d|\s{{1,3}}\d{{1,4}}\.\d)",
        # an image
        (
            rf"(?:(?<![\w.-])(?:{names})-[a-z]{{2,30}}|\b(?:FROM|image:)\s{{1,8}}[\"']?(?:{names})|/(?:{names}))"
            r"(?::\w[\w.-]{0,100}|@sha256:[0-9a-f]{64})"
        ),
        (
            rf"(?<![\w./])(?:{upper}|{names})_?(?:[A-Za-z]{{1,12}}_){{0,2}}"
            r"(?i:TAG|VERSION|COMMIT|HASH|REF|SHA|REV|REVISION|BRANCH|RELEASE)"
            r"(?:\s?[:?]?[:=]\s?['\"\[]?|:-| (?=v?\d{1,4}\.\d))[\w.]{3,60}"
        ),
    )
    entries = (
        rf"^\s{{0,40}}-?\s{{0,4}}[\"']?(?:(?:module_)?name|newName|repo)[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?{image}",
        rf"^\s{{0,40}}GIT_REPOSITORY\s{{1,8}}[^\s]{{1,200}}/(?:{names})(?:\.git)?\s*$",
        rf"^\s{{0,40}}(?:image)?[rR]epository:\s{{0,4}}[\"']?{image}",
        rf"^\[[\w.-]{{1,80}}\.(?:{names})\]",
        rf"^\s{{0,40}}\"(?:{names})\"\s?:\s?\{{",
    )
    return re.compile("|".join(forms), re.A), re.compile("|".join(entries), re.A)


# --- what a pinning line names

_HASH = re.compile(r"(?<![0-9a-f])(?=[0-9]{0,39}[a-f])[0-9a-f]{7,40}(?![0-9a-z])", re.A)
_VERSION = re.compile(
    r"(?P<operator>[=~<>!^]{0,3})[\s\"']{0,4}"
    r"(?<![\w.])v?(?P<version>\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?(?:rc|post|a|b)\d{1,3})?)"
    r"(?![\d.]*\d|[a-z]|\.dev|\.\*)",
    re.A,
)
# bounds, of which a version is not the one in use
_BOUNDS = ("<", ">", "!", "^")
_CLONED = re.compile(r"\bgit clone [^\n;&|]{0,300}?(?:-b|--branch)[ =][\"']?(?P<branch>[\w.-]{1,100})", re.A)


def read_revisions(text: str, package: str) -> tuple[str, ...]:
    """Return the commit that a line pins, or the tags that its version may have; none for a bound or a branch."""
    at = text.lower().find(package.lower())
    rest = text[max(at, 0) :].partition("sha256:")[0].partition(" #")[0]
    if cloned := _CLONED.search(text):
        rest = cloned["branch"]
    end = -1  # of the last bound
    for version in _VERSION.finditer(rest):
        if end >= 0 and rest[end : version.start()].strip() != ",":
            return ()
        if not version["operator"].startswith(_BOUNDS):
            return f"v{version['version']}", version["version"]
        end = version.end()
    return () if end >= 0 else tuple(_HASH.findall(rest)[-1:])


# --- the files that are lists of requirements, or of what was chosen for them


def _lists_requirements(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    is_text = name.endswith((".txt", ".in")) and ("requirements" in path.lower() or "constraints" in name)
    return is_text or name in {"pyproject.toml", "setup.cfg"} or is_build_script(path)


def is_build_script(path: str) -> bool:
    """Return whether a file of Python lists requirements, as literals in it."""
    return PurePosixPath(path).name in {"setup.py", "noxfile.py"}


def _parse_sections(text: str) -> None:
    """Raise ValueError for what has no sections' form: Python's own parser takes quadratic time for that."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";"))]
    if lines and not (lines[0].startswith("[") and all(map(_SECTION_LINE.match, lines))):
        raise ValueError(text)


def _parse_yaml(text: str) -> None:
    deque(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), maxlen=0)


_SECTION_LINE = re.compile(r"\[[^\]\n]+\]|\s|[^\s=:\[][^=:\n]*[=:]")
_PARSERS: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(
        ("pyproject.toml", "pixi.toml", "pylock.toml", "pipfile", "uv.lock", "poetry.lock", "pdm.lock"),
        tomllib.loads,
    ),
    **dict.fromkeys(("pipfile.lock", "flake.lock"), json.loads),
    **dict.fromkeys(("setup.cfg", "tox.ini"), _parse_sections),
    **dict.fromkeys(("environment.yml", "environment.yaml"), _parse_yaml),
}


def find_list_problem(file: FileText) -> str:
    """Return why a list of requirements may pin more than its lines say, as a clause; empty if it does not."""
    parse = _PARSERS.get(PurePosixPath(file.path).name.lower())
    # the time of parsers grows with the square of a line
    if (parse or _lists_requirements(file.path)) and any(len(line) > MAX_LINE for line in file.lines):
        return "a line of it is too long"
    try:
        if parse:
            parse(file.text)
    except (ValueError, RecursionError, yaml.YAMLError):
        return "it can't be parsed"
    return ""
