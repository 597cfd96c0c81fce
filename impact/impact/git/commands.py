"""Command lines and environments with which ``git`` reads what others made, and starts no program of theirs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

MISSING_PROGRAM = "the git program is missing"
INSTALL_GIT = "The git program is missing: install git to read the clone."
# git knows this object always
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# a repository may come from somebody else: its settings must start no program; nothing is fetched or locked
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    "advice.graftFileDeprecated=false",
    # git 2.43 to 2.45 took the attributes of a bare repository from its last commit
    f"attr.tree={_EMPTY_TREE}",
    "core.attributesFile=/dev/null",
    "core.bigFileThreshold=512m",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "log.showSignature=false",
)


def build_command(program: str, folder: Path, *arguments: str, settings: Iterable[str] = ()) -> list[str]:
    """Return the command line of ``git`` in a folder. ``settings`` are ``name=value`` and hold no secret."""
    options = [part for each in (*_SETTINGS, *settings) for part in ("-c", each)]
    return [program, "--no-pager", *options, "-C", str(folder), *arguments]


def build_environment(folder: Path) -> dict[str, str]:
    """Return the environment for ``git`` in a folder, without variables of git's own."""
    # git's variables could select another repository or start programs; a folder inside a clone is not a clone
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
