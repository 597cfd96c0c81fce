"""The modules of an upstream clone along its line, with what was read of each content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from impact.git.clone_trees import CloneTrees
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.models import Profile
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import KnownFunctions, build_outline
from impact.source.models import BlobVersion, TreeCommit

# a repository of 4,000 modules changes some 100 of them a day; an outline takes some 100,000 bytes
MAX_OUTLINES = 3_000
# its parts are those of outlines; vLLM has some 12,000 at a time
_MAX_FUNCTIONS = 50_000


class UpstreamTree:
    """The modules of an upstream tree, which goes from commit to commit along its line."""

    def __init__(self, trees: CloneTrees) -> None:
        self._trees = trees
        self._commit = ""
        self._files: dict[str, str] = {}
        self._modules: dict[str, str] = {}
        self._functions: KnownFunctions = {}
        # what a module offers, by the content of its file; None if it can't be read
        self.read_outline = lru_cache(MAX_OUTLINES)(self._outline_file)

    @property
    def files(self) -> Mapping[str, str]:
        """The hash of each file by its path."""
        return self._files

    def move_to(self, commit: str) -> None:
        """Go to a commit."""
        if commit != self._commit:
            self._files = dict(self._trees.list_files(commit))
            self._modules = {name[0]: path for path in self._files if (name := name_module(path))}
            self._commit = commit

    def advance(self, commit: TreeCommit, parent: str) -> None:
        """Go to a commit by its changes, from its parent."""
        self.move_to(parent)
        for change in commit.changes:
            if change.old:
                self._drop(change.old)
        for change in commit.changes:
            if change.new:
                self._add(change.new)
        self._commit = commit.sha

    def load_outline(self, module: str) -> ModuleOutline | None:
        """Return what a module offers at this commit; None if there is none or it can't be read."""
        version = self.find_module(module)
        return self.read_outline(version) if version else None

    def link(self, profile: Profile, commit: str) -> Profile:
        """Return a profile with the names under which upstream defines what it uses at a commit."""
        self.move_to(commit)
        return link_profile(profile, UpstreamIndex(self.load_outline))

    def find_module(self, module: str) -> BlobVersion | None:
        """Return the file of a module at this commit."""
        path = self._modules.get(module)
        return BlobVersion(path, self._files[path]) if path else None

    def _drop(self, version: BlobVersion) -> None:
        self._files.pop(version.path, None)
        name = name_module(version.path)
        if name and self._modules.get(name[0]) == version.path:
            del self._modules[name[0]]

    def _add(self, version: BlobVersion) -> None:
        self._files[version.path] = version.blob
        name = name_module(version.path)
        if name:
            self._modules[name[0]] = version.path

    def _outline_file(self, version: BlobVersion) -> ModuleOutline | None:
        file = self._trees.read_file(version)
        if len(self._functions) > _MAX_FUNCTIONS:
            self._functions.clear()
        return None if file.problem else build_outline(file.path, file.text, self._functions)
