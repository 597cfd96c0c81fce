"""Whole files of a commit by GraphQL, many in one call."""

from __future__ import annotations

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import SourceUnavailable
from bot.platform.cleaning import clean_code, parse_count, parse_node, parse_nodes
from bot.platform.github.client import GitHubClient
from bot.platform.github.errors import GraphQLError, translate_github_errors
from bot.platform.github.queries import SOURCE_LETTERS, build_source_query
from impact.repository import Repository
from impact.source.models import MAX_SOURCE_BYTES, DiffSide, SourceFile, SourceProblem, SourceVersions
from impact.source.reading import build_source_file, find_type_problem
from impact.text.strings import quote_input

# GitHub limits a call to ten seconds, and its connections to 500,000 nodes (docs.github.com, "Rate limits and
# query limits for the GraphQL API"). Files are no connection, so only the time counts: sveltia-cms reads 250 texts
# in a call. Fifty leave a margin, are 25 MB at most, and cover all but one of the 71 pull requests of three days
# of vLLM
MAX_PATHS = 50
# the field of a file, of either side
_FIELD = re.compile(r"[fg]\d+")
_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")

Node = Mapping[str, Any]
_Sides = dict[DiffSide, dict[str, SourceFile]]


class GitHubSourceFiles:
    """``SourceFiles`` with GraphQL: one call for each fifty paths.

    Files that GitHub reports errors about take one more call for each fifty.
    """

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths``, see :class:`bot.platform.source.models.SourceFiles`."""
        return self._read_sides(repository, commit, {side: paths})[side]

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return files before and after a commit, see :class:`bot.platform.source.models.SourceVersionReader`.

        One call reads fifty paths of each side.
        """
        files = self._read_sides(repository, commit, {DiffSide.OLD: old, DiffSide.NEW: new})
        return SourceVersions(files[DiffSide.OLD], files[DiffSide.NEW])

    def _read_sides(self, repository: Repository, commit: str, paths: Mapping[DiffSide, Sequence[str]]) -> _Sides:
        if not _COMMIT.fullmatch(commit):
            raise _build_unknown_commit_error(repository, commit)
        files = {
            side: {path: SourceFile(path, problem=SourceProblem.MISSING) for path in of_side}
            for side, of_side in paths.items()
        }
        readable = {side: [path for path in of_side if _is_path(path)] for side, of_side in files.items()}
        commit_files = _CommitFiles(self._client, repository, commit.lower())
        with translate_github_errors(repository):
            for start in range(0, max(map(len, readable.values())), MAX_PATHS):
                part = {side: of_side[start : start + MAX_PATHS] for side, of_side in readable.items()}
                for side, fresh in commit_files.read(part).items():
                    files[side] |= fresh
        return files


@dataclass(frozen=True, slots=True)
class _CommitFiles:
    """The files of one commit and of its first parent."""

    client: GitHubClient
    repository: Repository
    commit: str

    def read(self, paths: Mapping[DiffSide, Sequence[str]]) -> _Sides:
        """Return at most fifty files of each side. What GitHub could not read is asked for a second time."""
        files = self._query(paths)
        again = {
            side: [path for path, file in of_side.items() if file.problem is SourceProblem.UNAVAILABLE]
            for side, of_side in files.items()
        }
        if any(again.values()):
            for side, fresh in self._query(again).items():
                files[side] |= fresh
        return files

    def _query(self, paths: Mapping[DiffSide, Sequence[str]]) -> _Sides:
        """Run one query.

        Raises:
            SourceUnavailable: there is no such commit.
            GraphQLError: GitHub could not look it up.
        """
        variables = {"commit": self.commit}
        for side, of_side in paths.items():
            variables |= {f"{SOURCE_LETTERS[side][0]}{index}": path for index, path in enumerate(of_side)}
        query = build_source_query(len(paths.get(DiffSide.NEW, ())), len(paths.get(DiffSide.OLD, ())))
        data, errors = self.client.run_partial_query(query, self.repository, variables)
        commit = parse_node(data["repository"]).get("object")
        commits = {side: _list_commits(commit, side) for side, of_side in paths.items() if of_side}
        if any(error.get("type") == "RATE_LIMITED" for error in errors) or (None in commits.values() and errors):
            raise GraphQLError(errors)
        if None in commits.values():
            raise _build_unknown_commit_error(self.repository, self.commit)
        return {
            side: _build_files(of_side, SOURCE_LETTERS[side][1], commits.get(side) or [], errors)
            for side, of_side in paths.items()
        }


def _build_files(
    paths: Sequence[str], letter: str, commits: Sequence[Node], errors: Iterable[Node]
) -> dict[str, SourceFile]:
    """Return the files of one side from the fields of its commit, if there is one."""
    fields = {f"{letter}{index}": path for index, path in enumerate(paths)}
    nodes = {field: parse_node(commits[0].get(field) if commits else None) for field in fields}
    failed = _list_failed_fields(nodes, errors)
    return {
        path: SourceFile(path, problem=SourceProblem.UNAVAILABLE)
        if field in failed
        else _build_file(path, nodes[field])
        for field, path in fields.items()
    }


def _list_failed_fields(nodes: Mapping[str, Node], errors: Iterable[Node]) -> set[str]:
    """Return the fields that errors are about. One that names none is about all that are empty.

    That a file was not found is an answer.
    """
    failed: set[str] = set()
    for error in errors:
        place = error.get("path")
        parts = [part for part in place if isinstance(part, str)] if isinstance(place, list) else []
        named = nodes.keys() & set(parts)
        if not named and not any(_FIELD.fullmatch(part) for part in parts):
            failed |= {field for field, node in nodes.items() if not node}
        elif error.get("type") != "NOT_FOUND":
            failed |= named
    return failed


def _list_commits(node: object, side: DiffSide) -> list[Node] | None:
    """Return the commit or its first parent, nothing if it has none, and None for what is no commit."""
    commit = parse_node(node)
    if commit.get("__typename") != "Commit":
        return None
    if side is DiffSide.NEW:
        return [commit]
    return parse_nodes(commit["parents"]) if parse_node(commit.get("parents")) else None


def _is_path(path: str) -> bool:
    """Return whether git can have a file at a path. It normalizes none, and GitHub's rules are not known."""
    return not {"", ".", ".."} & set(path.split("/")) and "\0" not in path and _encode_text(path) is not None


def _build_file(path: str, entry: Node) -> SourceFile:
    """Return the file of a tree's entry, as ``build_source_file`` returns it for the bytes that git has."""
    if not entry:
        return SourceFile(path, problem=SourceProblem.MISSING)
    blob = parse_node(entry.get("object"))
    problem = find_type_problem(parse_count(entry.get("mode"))) or _find_blob_problem(blob)
    data = None if problem else _restore_bytes(blob)
    if data is None:
        return SourceFile(path, problem=problem or SourceProblem.NOT_UTF8)
    return build_source_file(path, data, clean_code)


def _find_blob_problem(blob: Node) -> SourceProblem | None:
    """Return why a blob has no text that could be read."""
    if blob.get("__typename") != "Blob":
        return SourceProblem.UNAVAILABLE
    # for a truncated text, GitHub does not look whether it is binary
    if parse_count(blob.get("byteSize")) > MAX_SOURCE_BYTES or blob.get("isTruncated"):
        return SourceProblem.TOO_LARGE
    if isinstance(blob.get("text"), str):
        return None
    if blob.get("isBinary") is None:
        # GitHub was "unable to determine the encoding", as its schema says
        return SourceProblem.NOT_UTF8
    return SourceProblem.BINARY if blob["isBinary"] is True else SourceProblem.UNAVAILABLE


def _restore_bytes(blob: Node) -> bytes | None:
    """Return the bytes of a blob from its text; None if the text is a translation from another encoding.

    The hash of the blob decides: sizes can be equal by chance, as U+FFFD has as many bytes as a lone surrogate.
    """
    data = _encode_text(blob["text"])
    if data is None:
        return None
    # whether a byte order mark is part of the text is documented nowhere
    return next((each for each in (data, BOM_UTF8 + data) if _compute_oid(each, blob) == blob.get("oid")), None)


def _encode_text(text: str) -> bytes | None:
    """Return a text as UTF-8, None if it has lone surrogates."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _compute_oid(data: bytes, blob: Node) -> str:
    """Return the hash that git gives a file: of 64 digits in a repository that uses SHA-256, else of 40."""
    is_sha256 = len(str(blob.get("oid"))) == 64
    make_hash = hashlib.sha256 if is_sha256 else hashlib.sha1
    return make_hash(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _build_unknown_commit_error(repository: Repository, commit: str) -> SourceUnavailable:
    """Return the error for a commit that is not there."""
    return SourceUnavailable(f"GitHub has no commit {quote_input(commit)} in {repository}.")
