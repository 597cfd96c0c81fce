"""What a replay keeps between merges and windows: the files of a tree, and what was read of each content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from impact.git.clone_trees import CloneTrees
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import KnownFunctions, build_outline
from impact.source.models import BlobVersion, SourceFile, TreeCommit

Value = TypeVar("Value")
# a repository of 4,000 modules changes some 100 of them a day
_MAX_KEPT = 12_000
# an outline takes some 100,000 bytes
MAX_OUTLINES = 3_000
# its parts are those of outlines; vLLM has some 12,000 at a time
_MAX_FUNCTIONS = 50_000


class FileCache(Generic[Value]):
    """Results of reading files, by path and content; those unused for longest go first."""

    def __init__(self, trees: CloneTrees, read: Callable[[SourceFile], Value], most: int = _MAX_KEPT) -> None:
        self._trees = trees
        self._read = read
        self._most = most
        self._kept: OrderedDict[BlobVersion, Value] = OrderedDict()

    def get_value(self, version: BlobVersion) -> Value:
        """Return the result for a file."""
        if version in self._kept:
            self._kept.move_to_end(version)
            return self._kept[version]
        value = self._kept[version] = self._read(self._trees.read_file(version))
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value


class UpstreamTree:
    """The modules of an upstream tree, which goes from commit to commit along its line."""

    def __init__(self, trees: CloneTrees) -> None:
        self._trees = trees
        self._commit = ""
        self._files: dict[str, str] = {}
        self._modules: dict[str, str] = {}
        self._functions: KnownFunctions = {}
        self._outlines = FileCache(trees, self._outline_file, MAX_OUTLINES)

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
        path = self._modules.get(module)
        return self._outlines.get_value(BlobVersion(path, self._files[path])) if path else None

    def read_outline(self, version: BlobVersion) -> ModuleOutline | None:
        """Return what a module offers, by the content of its file."""
        return self._outlines.get_value(version)

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

    def _outline_file(self, file: SourceFile) -> ModuleOutline | None:
        if len(self._functions) > _MAX_FUNCTIONS:
            self._functions.clear()
        return None if file.problem else build_outline(file.path, file.text, self._functions)
