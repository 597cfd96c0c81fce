"""Questions that paths of files answer better than words: about images, packages, compiled code, docs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that a question is about. ``paths`` are globs in the format of the bot's tools.

    ``none_phrase`` and ``some_phrase`` describe them if no pull requests, or some, change one.
    """

    pattern: re.Pattern[str]
    paths: tuple[str, ...]
    none_phrase: str
    some_phrase: str

    def select_files(self, files: Iterable[str]) -> list[str]:
        """Return the files that belong to the group."""
        return [path for path in files if any(_is_match(path, glob) for glob in self.paths)]


def find_file_group(question: str) -> FileGroup | None:
    """Return the group of files that a question is about, None if there is none."""
    text = " ".join(question.casefold().split())
    return next((group for group in _FILE_GROUPS if group.pattern.search(text)), None)


def _is_match(path: str, glob: str) -> bool:
    """Return whether a path matches a glob, or is in its folder."""
    if glob.endswith("/"):
        return f"/{glob}" in f"/{path}"
    return fnmatchcase(path if "/" in glob else path.rpartition("/")[2], glob.removeprefix("/"))


_FILE_GROUPS = (
    FileGroup(
        re.compile(
            r"\brecompil|\bcompile (?:again|it|vllm|anything)\b|\bfrom source\b|\bwheels?\b|\bcompiled code\b"
        ),
        ("csrc/", "*.cu", "*.cuh", "*.cpp", "*.cc", "*.hpp", "CMakeLists.txt", "cmake/"),
        "compiled code: no C++, CUDA or HIP source and no CMake file is touched",
        "compiled code (C++, CUDA or HIP sources, CMake), so compile again if you build from source",
    ),
    FileGroup(
        re.compile(
            r"\bdocker|\bcontainers?\b|\b(?:base|build|builds|new) images?\b|\bimage (?:build|tag)s?\b|\brebuil"
        ),
        (
            "Dockerfile*",
            "*.dockerfile",
            "docker/",
            "docker-*",
            ".dockerignore",
            "requirements/",
            "requirements*.txt",
            "/pyproject.toml",
            "/setup.py",
        ),
        "the image build: no Dockerfile, nothing in `docker/` or `requirements/`, no `pyproject.toml` and no "
        "`setup.py` at the top is touched. Whether you need to rebuild for another reason, rules can't tell",
        "what an image is built from",
    ),
    FileGroup(
        re.compile(
            r"\bdependenc|\brequirements?\b|\b(?:new|extra|pip|python) packages?\b|\bpip install\b|\bbump"
            r"|\bpinned\b|\b(?:torch|pytorch|transformers|triton|numpy|python|cuda|rocm) (?:version|upgrade)s?\b"
        ),
        ("requirements/", "requirements*", "pyproject.toml", "setup.py", "setup.cfg", "*.lock", "package.json"),
        "a file that names dependencies (requirements, `pyproject.toml`, `setup.py`, lock files)",
        "a file that names dependencies",
    ),
    FileGroup(
        re.compile(r"\b(?:database|db|sql|schema) (?:migration|change)|\bsql\b"),
        ("migrations/", "*.sql", "alembic/"),
        "a database migration or an SQL file",
        "a database migration or an SQL file",
    ),
    FileGroup(
        re.compile(r"\bdocs?\b|\bdocumentation\b|\breadme\b"),
        ("docs/", "*.md", "*.rst"),
        "documentation files",
        "documentation files",
    ),
    FileGroup(
        re.compile(r"\blicen[cs]e"),
        ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"),
        "a licence file",
        "a licence file",
    ),
    FileGroup(
        re.compile(r"\bpipelines? (?:config|file|change)|\bgithub actions?\b|\bworkflow files?\b|\bbuildkite\b"),
        (".buildkite/", ".github/"),
        "a file of the CI pipelines",
        "files of the CI pipelines",
    ),
)
