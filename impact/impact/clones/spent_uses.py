"""What of a downstream clone may go on a way of an upstream clone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from textwrap import dedent

from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import explain_uses
from impact.contract.net_changes import MergeReference
from impact.git.clone_trees import CloneTrees
from impact.history.merges import WrittenMerge
from impact.profile.linking import UpstreamIndex
from impact.profile.models import Profile
from impact.python.code_reader import drop_docstring, hash_lines
from impact.python.models import DefinitionKind
from impact.python.syntax import parse_source
from impact.touches.spent import SpentUse, UpstreamFunction, find_spent, get_compared_names, select_own_functions

_FUNCTIONS = frozenset({DefinitionKind.FUNCTION, DefinitionKind.METHOD})
_CLOSES = re.compile(r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b", re.I)


def list_spent(
    team: CloneTrees, profile: Profile, upstream: CloneTrees, start: str, end: str, merges: Iterable[WrittenMerge]
) -> tuple[SpentUse, ...]:
    """Return what may go of the uses of a profile, which is linked to upstream at ``start``, at ``end``.

    ``merges`` are those between the two.
    """
    named: dict[int, MergeReference] = {}
    repository = ""
    for at, merge in enumerate(sorted(merges, key=lambda each: each.merge_time)):
        repository = str(merge.repository)
        reference = MergeReference(at, merge.number, merge.merge_commit or "", merge.merge_time, merge.title)
        named[merge.number] = reference
        for closed in _CLOSES.findall(f"{merge.commit_message}\n{merge.body}"):
            named.setdefault(int(closed), reference)
    uses = select_own_functions(profile.uses)
    names = {name for use in uses for name in get_compared_names(use)}
    tree = UpstreamTree(upstream)
    # what did not change is read once
    before, after = (_read_functions(upstream, tree, commit, names) for commit in (start, end))
    reasons = explain_uses(team, profile.commit, uses)
    return tuple(find_spent(uses, before, after, reasons, named, repository))


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
        lines = _drop_head(upstream.read_file(version).lines[definition.line - 1 : definition.end_line])
        functions[name] = UpstreamFunction(place.full_name, definition.body, hash_lines("\n".join(lines)))
    return functions


def _drop_head(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a function without its signature and docstring."""
    tree = parse_source(dedent("\n".join(lines)))
    node = tree.body[0] if tree and len(tree.body) == 1 else None
    body = drop_docstring(node.body) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return lines[body[0].lineno - 1 :] if body else ()
