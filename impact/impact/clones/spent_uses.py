"""What of a downstream clone may go on a way of an upstream clone."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from itertools import islice
from pathlib import PurePosixPath
from textwrap import dedent

from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import explain_uses
from impact.contract.net_changes import MergeReference
from impact.errors import attempt
from impact.git.clone_trees import CloneTrees
from impact.history.merges import WrittenMerge, sort_merges
from impact.history.reverts import RevertIndex, list_reverted_numbers, select_standing
from impact.profile.linking import UpstreamIndex
from impact.profile.models import Profile, Use, UseKind
from impact.profile.notes import find_notes, list_notes
from impact.python.code_reader import drop_docstring, hash_lines
from impact.python.models import DefinitionKind
from impact.python.outline import build_outline
from impact.python.syntax import parse_source
from impact.repository import Repository
from impact.source.models import BlobVersion, TreeCommit
from impact.touches.spent import (
    SpentUse,
    UpstreamFunction,
    find_spent,
    get_compared_names,
    list_numbers,
    select_own_functions,
)

# files that may have notes on replacements, and how many are read
_NOTED, _MAX_NOTED = (".py", ".md", ".rst", ".txt"), 100
# lines of a difference, and characters of one
_MAX_DIFFERENCE, _MAX_WIDTH = 60, 200
_FUNCTIONS = frozenset({DefinitionKind.FUNCTION, DefinitionKind.METHOD})
_CLOSES = re.compile(r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s+([\w.-]+/[\w.-]+)?#(\d{1,9})\b", re.I)


def list_spent(
    team: CloneTrees,
    profile: Profile,
    upstream: CloneTrees,
    start: str,
    end: str,
    merges: Iterable[WrittenMerge],
    repository: str = "",
) -> tuple[SpentUse, ...]:
    """Return what may go of the uses of a profile, which is linked to upstream at ``start``, at ``end``.

    ``merges`` are those between the two. ``repository`` is upstream's name, if the clone does not say it.
    """
    named: dict[int, MergeReference] = {}
    ordered = sorted(merges, key=lambda each: each.merge_time)
    # nothing waits for what was taken back
    gone = list_reverted_numbers(select_standing(RevertIndex(ordered).reverts, ordered))
    for at, merge in enumerate(each for each in ordered if each.number not in gone):
        repository = str(merge.repository)
        reference = MergeReference(at, merge.number, merge.merge_commit or "", merge.merge_time, merge.title)
        named[merge.number] = reference
        for closed in _list_closed(f"{merge.commit_message}\n{merge.body}", repository):
            named.setdefault(closed, reference)
    uses = select_own_functions(profile.uses)
    names = {name for use in uses for name in get_compared_names(use)}
    tree = UpstreamTree(upstream)
    # what did not change is read once
    before, after = (_read_functions(upstream, tree, commit, names) for commit in (start, end))
    reasons = _list_reasons(team, profile.commit, uses)
    repository = repository or str(upstream.read_facts().repository or "")
    numbers = {number for each in reasons.values() for text in each for number in list_numbers(text, repository)}
    others = numbers - named.keys() if repository else set[int]()
    earlier = _find_earlier(upstream, start, end, repository, others)
    spent = find_spent(uses, before, after, reasons, named, repository, earlier)
    return tuple(replace(each, difference=_compare_texts(team, profile.commit, each.use, after)) for each in spent)


def _list_closed(text: str, repository: str) -> list[int]:
    """Return the numbers of the issues of a repository that a merge says that it closes."""
    closed = _CLOSES.findall(text)
    return [int(number) for of, number in closed if of.casefold() in ("", repository.casefold())]


def _list_reasons(team: CloneTrees, commit: str, uses: Sequence[Use]) -> dict[Use, tuple[str, ...]]:
    """Return the comment beside each use, and the notes that other places of the tree have on it."""
    beside = explain_uses(team, commit, uses)
    names = {PurePosixPath(use.path).name for use in uses if use.kind is UseKind.PATCH}
    names |= {name for use in uses for name in (use.name, *use.definitions)}
    lines = team.find_lines(commit, sorted(names)) if names else None
    paths = [path for path in dict.fromkeys(path for path, _ in lines or ()) if path.endswith(_NOTED)]
    files = team.list_files(commit)
    sources = (team.read_file(BlobVersion(path, files[path])) for path in paths[:_MAX_NOTED] if path in files)
    notes = [note for file in sources for note in attempt(file.path, list_notes, file.path, file.text) or ()]
    reasons = {use: tuple(filter(None, (beside.get(use, ""), *find_notes(notes, use)))) for use in uses}
    return {use: texts for use, texts in reasons.items() if texts}


def _find_earlier(
    upstream: CloneTrees, start: str, end: str, repository: str, numbers: Collection[int]
) -> dict[int, MergeReference]:
    """Return the merges up to a commit that have some numbers, or close issues that do, and that the end holds."""
    if not numbers:
        return {}
    places = {commit.sha: at for at, commit in enumerate(upstream.list_line())}
    first, last, of = places.get(start, -1), places.get(end, -1), Repository.parse(repository)

    def list_mentions(texts: Iterable[str], until: int) -> list[TreeCommit]:
        known = [each for each in upstream.find_mentions(texts) if places.get(each.sha, len(places)) <= until]
        return [*upstream.read_commits(reversed(known), has_contents=False)] if known else []

    named, earlier = list_mentions((f"#{number}" for number in numbers), first), dict[int, MergeReference]()
    for merge in sort_merges(named, of).merges:
        commit = merge.merge_commit
        reference = MergeReference(places[commit], merge.number, commit, merge.merge_time, merge.title)
        closed = _list_closed(merge.commit_message, repository)
        earlier |= dict.fromkeys({merge.number, *closed}.intersection(numbers), reference)
    # a revert names its merge by its number or its commit
    texts = [text for each in earlier.values() for text in (f"#{each.number}", each.commit[:10])]
    since = sort_merges(list_mentions(texts, last), of)
    ordered = (*since.merges, *since.direct)
    gone = list_reverted_numbers(select_standing(RevertIndex(ordered).reverts, ordered))
    return {number: each for number, each in earlier.items() if each.number not in gone}


def _compare_texts(team: CloneTrees, commit: str, use: Use, after: Mapping[str, UpstreamFunction]) -> str:
    """Return what sets a function of the team's apart from upstream's, as a diff; empty if it is unknown."""
    theirs = next((after[name].text for name in get_compared_names(use) if name in after), "")
    blob = team.list_files(commit).get(use.path)
    file = team.read_file(BlobVersion(use.path, blob)) if blob else None
    outline = build_outline(file.path, file.text) if file and theirs else None
    definitions = outline.definitions.values() if outline else ()
    own = [each for each in definitions if each.kind in _FUNCTIONS and each.body and each.body == use.body]
    own = [each for each in own if each.line == use.line] or own
    if not own or not file:
        return ""
    ours = dedent("\n".join(file.lines[own[0].line - 1 : own[0].end_line]))
    lines = unified_diff(theirs.split("\n"), ours.split("\n"), "upstream", "ours", "", "", 2, "")
    return "\n".join(line[:_MAX_WIDTH] for line in islice(lines, _MAX_DIFFERENCE))


def _read_functions(
    upstream: CloneTrees, tree: UpstreamTree, commit: str, names: Iterable[str]
) -> dict[str, UpstreamFunction]:
    """Return the functions of upstream at a commit that have some of the names."""
    tree.move_to(commit)
    index = UpstreamIndex(tree.load_outline)
    functions = {}
    for name in names:
        place = index.find_place(name)
        definition, version = index.get_definition(place), tree.find_module(place.module) if place else None
        if place is None or definition is None or version is None:
            continue
        if definition.kind not in _FUNCTIONS:
            is_alias = definition.kind is DefinitionKind.CONSTANT
            functions[name] = UpstreamFunction(place.full_name, is_alias=is_alias)
            continue
        lines = upstream.read_file(version).lines[definition.line - 1 : definition.end_line]
        hashes = hash_lines("\n".join(_drop_head(lines)))
        functions[name] = UpstreamFunction(place.full_name, definition.body, hashes, text=dedent("\n".join(lines)))
    return functions


def _drop_head(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a function without its signature and docstring."""
    tree = parse_source(dedent("\n".join(lines)))
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    body = drop_docstring(node.body) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return lines[body[0].lineno - 1 :] if body else ()
