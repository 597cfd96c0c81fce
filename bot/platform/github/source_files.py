"""Source files at a commit, and the releases and commits of a repository."""

from __future__ import annotations

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.errors import GitHubAccessDenied, RepositoryNotFound, SourceUnavailable
from bot.platform.cleaning import (
    clean_code,
    clean_hash,
    clean_line,
    parse_count,
    parse_instant,
    parse_node,
    parse_nodes,
)
from bot.platform.github.client import GitHubClient
from bot.platform.github.errors import GraphQLError, UnreadableResponse, translate_github_errors
from bot.platform.github.pulls import (
    HEAD_QUERY,
    NAME_QUERY,
    RELEASES_QUERY,
    SOURCE_LETTERS,
    TAG_QUERY,
    build_source_query,
)
from bot.platform.source.models import RepositoryTree, TreeFile
from impact.contract.deprecations import Release, build_releases
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
_Paths = Mapping[DiffSide, Sequence[str]]
_Sides = dict[DiffSide, dict[str, SourceFile]]


@dataclass(frozen=True)
class GitHubSourceFiles:
    """``SourceFiles`` with GraphQL: one call for each fifty paths, and one more for those with errors."""

    client: GitHubClient

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths``, see :class:`bot.platform.source.models.SourceFiles`."""
        return self._read_sides(repository, commit, {side: paths})[side]

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return files before and after a commit; one call reads fifty of each side."""
        files = self._read_sides(repository, commit, {DiffSide.OLD: old, DiffSide.NEW: new})
        return SourceVersions(files[DiffSide.OLD], files[DiffSide.NEW])

    def _read_sides(self, repository: Repository, commit: str, paths: _Paths) -> _Sides:
        if not _COMMIT.fullmatch(commit):
            raise _build_unknown_commit_error(repository, commit)
        files = {
            side: {path: SourceFile(path, problem=SourceProblem.MISSING) for path in of_side}
            for side, of_side in paths.items()
        }
        readable = {side: [path for path in of_side if _is_path(path)] for side, of_side in files.items()}
        with translate_github_errors(repository):
            for start in range(0, max(map(len, readable.values())), MAX_PATHS):
                part = {side: of_side[start : start + MAX_PATHS] for side, of_side in readable.items()}
                again = self._read_part(repository, commit, part, files)
                if any(again.values()):
                    # what GitHub could not read is asked for a second time
                    self._read_part(repository, commit, again, files)
        return files

    def _read_part(self, repository: Repository, commit: str, paths: _Paths, files: _Sides) -> _Paths:
        """Add at most fifty files of each side by one query; return those that GitHub could not read.

        Raises SourceUnavailable if there is no such commit, GraphQLError if GitHub could not look it up.
        """
        variables = {"commit": commit.lower()}
        for side, of_side in paths.items():
            variables |= {f"{SOURCE_LETTERS[side][0]}{index}": path for index, path in enumerate(of_side)}
        query = build_source_query(len(paths.get(DiffSide.NEW, ())), len(paths.get(DiffSide.OLD, ())))
        data, errors = self.client.run_partial_query(query, repository, variables)
        node = parse_node(data["repository"]).get("object")
        commits = {side: _list_commits(node, side) for side, of_side in paths.items() if of_side}
        if any(error.get("type") == "RATE_LIMITED" for error in errors) or (None in commits.values() and errors):
            raise GraphQLError(errors)
        if None in commits.values():
            raise _build_unknown_commit_error(repository, commit.lower())
        for side, of_side in paths.items():
            files[side] |= _build_files(of_side, SOURCE_LETTERS[side][1], commits.get(side) or [], errors)
        return {
            side: [path for path in of_side if files[side][path].problem is SourceProblem.UNAVAILABLE]
            for side, of_side in paths.items()
        }


def _build_files(
    paths: Sequence[str], letter: str, commits: Sequence[Node], errors: Iterable[Node]
) -> dict[str, SourceFile]:
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
    """Return the fields that errors are about: all empty ones for one that names none. NOT_FOUND is an answer."""
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
    """Return the bytes of a blob from its text; None if the text is a translation from another encoding."""
    # the hash of the blob decides: sizes can be equal by chance, as U+FFFD has as many bytes as a lone surrogate.
    # It has 64 digits in a repository that uses SHA-256, else 40.
    data, oid = _encode_text(blob["text"]), blob.get("oid")
    if data is None:
        return None
    make_hash = hashlib.sha256 if len(str(oid)) == 64 else hashlib.sha1
    # whether a byte order mark is part of the text is documented nowhere
    for each in (data, BOM_UTF8 + data):
        if make_hash(b"blob %d\0" % len(each) + each, usedforsecurity=False).hexdigest() == oid:
            return each
    return None


def _encode_text(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _build_unknown_commit_error(repository: Repository, commit: str) -> SourceUnavailable:
    return SourceUnavailable(f"GitHub has no commit {quote_input(commit)} in {repository}.")


# --- releases

# other tags, such as those of packages and nightly builds, are out of the count unless somebody released them
_PLAIN_TAG = re.compile(r"v?\d{1,4}(?:\.\d{1,4}){1,3}", re.A)

# GitHub lists at most 100,000 entries (docs.github.com, "Get a tree"); vLLM has some 5,000
_MAX_ENTRIES = 100_000
_MODE = re.compile(r"[0-7]{6}")


@dataclass(frozen=True)
class GitHubReleases:
    """``Releases`` of GitHub: those that were published, and tags that are versions."""

    client: GitHubClient

    def list_releases(self, repository: Repository) -> tuple[Release, ...]:
        """Return the releases among the newest hundred, oldest first. See ``Releases``."""
        with translate_github_errors(repository):
            place = parse_node(self.client.run_query(RELEASES_QUERY, repository, {})["repository"])
        if not (parse_node(place.get("releases")) and parse_node(place.get("refs"))):
            # else a repository that may not be read would have no releases
            raise GitHubAccessDenied(
                f"The token may not read the releases of {repository}: give it read access to contents."
            )
        return build_releases(_list_versions(place).items())

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge of the default branch among the newest hundred commits that a tag holds."""
        with translate_github_errors(repository):
            data = self.client.run_query(TAG_QUERY, repository, {"tag": f"refs/tags/{tag}"})
        place = parse_node(data["repository"])
        target = parse_node(parse_node(place.get("ref")).get("target"))
        # a tag with a message stands before the commit
        history = parse_node(target.get("history") or parse_node(target.get("target")).get("history"))
        branch = parse_node(place.get("defaultBranchRef")).get("name")
        commits = (each for each in parse_nodes(history) if _is_merge(each, branch, place.get("id")))
        return next((clean_hash(commit.get("oid")) for commit in commits), "")


def _list_versions(place: Node) -> dict[str, datetime]:
    """Return the time of each tag that is out: when it was released, else that of its commit."""
    releases = parse_nodes(parse_node(place.get("releases")))
    candidates = {clean_line(each.get("tagName")) for each in releases if each.get("isPrerelease")}
    versions = dict[str, datetime]()
    for node in parse_nodes(parse_node(place.get("refs"))):
        name, target = clean_line(node.get("name")), parse_node(node.get("target"))
        commit = target if target.get("committedDate") else parse_node(target.get("target"))
        at = parse_instant(commit.get("committedDate"))
        if at and name not in candidates and _PLAIN_TAG.fullmatch(name):
            versions[name] = at
    for node in releases:
        name, at = clean_line(node.get("tagName")), parse_instant(node.get("publishedAt"))
        if name and at and not node.get("isDraft") and not node.get("isPrerelease"):
            versions[name] = at
    return versions


def _is_merge(commit: Node, branch: object, repository_id: object) -> bool:
    """Return whether a pull request into the default branch was merged as this commit."""
    return any(
        each.get("baseRefName") == branch
        and parse_node(each.get("mergeCommit")).get("oid") == commit.get("oid")
        and parse_node(each.get("repository")).get("id") == repository_id
        for each in parse_nodes(commit.get("associatedPullRequests"))
    )


@dataclass(frozen=True)
class GitHubTrees:
    """Lists of the files of repositories."""

    client: GitHubClient

    def find_present_name(self, repository: Repository, *, is_public: bool = False) -> Repository:
        """Return the name that a repository has now. Raises RepositoryNotFound, and what other calls raise.

        With ``is_public``, one that not everybody may read is not found.
        """
        with translate_github_errors(repository):
            place = parse_node(self.client.run_query(NAME_QUERY, repository, {})["repository"])
        if is_public and place.get("isPrivate") is not False:
            raise RepositoryNotFound(f"There is no public repository {repository}.")
        return Repository.parse(clean_line(place.get("nameWithOwner")))

    def list_tree(self, repository: Repository, until: datetime | None = None) -> RepositoryTree:
        """List the files at the newest commit by an instant (aware), without links. Raises SourceUnavailable."""
        at = until.astimezone(UTC).isoformat() if until else None
        with translate_github_errors(repository):
            data = self.client.run_query(HEAD_QUERY, repository, {"until": at})
            place = parse_node(data["repository"])
            # a redirect from an earlier name would lose the parameters
            now = place.get("nameWithOwner")
            address = Repository.parse(now) if isinstance(now, str) else repository
            branch = parse_node(place.get("defaultBranchRef"))
            history = parse_nodes(parse_node(branch.get("target")).get("history"))
            commit = clean_hash(history[0].get("oid")) if history else ""
            if not commit:
                raise SourceUnavailable(f"{repository} has no commit{f' until {at}' if at else ' yet'}.")
            answer = self.client.get_object(f"/repos/{address}/git/trees/{commit}", {"recursive": "1"})
            if not isinstance(answer.get("tree"), list):
                raise UnreadableResponse("no tree")
        files = tuple(_list_files(answer))
        return RepositoryTree(commit, files, bool(answer.get("truncated")) or len(files) >= _MAX_ENTRIES)


def _list_files(answer: dict[str, Any]) -> Iterator[TreeFile]:
    """Yield the files of a tree, without folders, links and submodules."""
    for entry in parse_nodes({"nodes": answer["tree"][:_MAX_ENTRIES]}):
        path, mode, content = entry.get("path"), entry.get("mode"), clean_hash(entry.get("sha"))
        is_file = isinstance(mode, str) and _MODE.fullmatch(mode) and find_type_problem(int(mode, 8)) is None
        if is_file and isinstance(path, str) and path and content:
            yield TreeFile(path, content, parse_count(entry.get("size")))
