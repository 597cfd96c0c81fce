"""Extraction of what a merge changes, with the package files that were read beside it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from bot.domain.pull_requests.models import PullRequest
from impact.contract.extraction import MergeFacts, extract_contract
from impact.contract.models import FileVersions, MergeContract
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.source.models import SourceFile

# part of the keys of kept contracts: raise it when the rules of the extraction change
EXTRACTION_VERSION = "1"


def extract_merge(
    pull: PullRequest, versions: Sequence[FileVersions], packages: Sequence[SourceFile]
) -> MergeContract:
    """Return what a merged pull request changes for others. Names are looked for in ``packages``, too."""
    files = {named[0]: file for file in packages if (named := name_module(file.path))}

    @cache
    def load(module: str) -> ModuleOutline | None:
        file = files.get(module)
        return build_outline(file.path, file.text) if file else None

    facts = MergeFacts(pull.number, pull.commit, pull.merge_time, pull.title)
    return extract_contract(facts, versions, load)
