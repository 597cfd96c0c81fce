"""The modules of an upstream at a commit, read as a profile needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from bot.domain.keyspace.keys import MODULE_OUTLINE
from bot.domain.pull_requests.models import Repository
from bot.domain.source.listing import RepositoryTree, TreeFile
from bot.ports import Cache, SourceFiles, SourceTrees
from bot.ports.codecs.versioned_json import VersionedJson
from bot.services.profile.content_cache import ContentCache
from impact.profile.linking import link_profile
from impact.profile.models import Profile
from impact.profile.upstream.index import UpstreamIndex
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.source.models import SourceFile

# part of the keys of kept outlines: raise it when the reading of modules changes
OUTLINE_VERSION = "1"
# each round reads the modules that the last one led to: re-exports and bases of bases
_MAX_ROUNDS = 10
# vLLM has some 1,500 modules, of which vllm-ascend reaches some 400
_MAX_MODULES = 3_000
_CODEC = VersionedJson(ModuleOutline, 2)
# what is kept of a file that is no module that can be read
_NO_OUTLINE = ModuleOutline("", is_package=False)


class UpstreamOutlines:
    """Linker of profiles to an upstream. ``workers`` calls run at a time."""

    def __init__(self, trees: SourceTrees, files: SourceFiles, cache: Cache, workers: int) -> None:
        self._trees = trees
        self._files = files
        self._workers = workers
        self._outlines = ContentCache(cache, MODULE_OUTLINE, _CODEC, OUTLINE_VERSION, _read_outline)

    def link_profile(self, profile: Profile, upstream: Repository, until: datetime | None = None) -> Profile:
        """Return a profile linked to the newest commit of an upstream, or to that of an aware instant.

        Modules are read in rounds, fifty in a call, and only if their content is not known.

        Raises:
            PrdigestError: upstream can't be read, or the store does not answer.
        """
        tree = self._trees.list_tree(upstream, until)
        modules = _list_modules(tree)
        known = _KnownModules(modules, self._outlines.get_kept)
        linked = link_profile(profile, UpstreamIndex(known.load))
        for _ in range(_MAX_ROUNDS):
            missing_modules = known.take_wanted()
            if not missing_modules:
                break
            known.add(
                missing_modules,
                self._read_modules(upstream, tree.commit, [modules[name] for name in missing_modules]),
            )
            linked = link_profile(profile, UpstreamIndex(known.load))
        return linked

    def _read_modules(self, upstream: Repository, commit: str, files: list[TreeFile]) -> dict[str, ModuleOutline]:
        outlines = self._outlines.read_files(self._files, upstream, commit, files, self._workers)
        return {outline.module: outline for outline in outlines if outline.module}


class _KnownModules:
    """The outlines that were read so far, and the modules that were asked for and are still to be read.

    ``get_kept`` returns what an earlier day read: then one round is enough.
    """

    def __init__(
        self, modules: Mapping[str, TreeFile], get_kept: Callable[[TreeFile], ModuleOutline | None]
    ) -> None:
        self._modules = modules
        self._get_kept = get_kept
        self._outlines: dict[str, ModuleOutline | None] = {}
        self._wanted: dict[str, None] = {}

    def load(self, module: str) -> ModuleOutline | None:
        """Return what is known of a module."""
        if module in self._outlines or module not in self._modules:
            return self._outlines.get(module)
        kept = self._get_kept(self._modules[module])
        if kept is None:
            self._wanted[module] = None
            return None
        self._outlines[module] = kept if kept.module else None
        return self._outlines[module]

    def take_wanted(self) -> list[str]:
        """Return the modules that are to be read next, and none that would be too many."""
        module_names = list(self._wanted)[: max(_MAX_MODULES - len(self._outlines), 0)]
        self._wanted.clear()
        return module_names

    def add(self, module_names: Iterable[str], outlines: Mapping[str, ModuleOutline]) -> None:
        """Add what was read of the modules that were wanted. The others are not wanted again."""
        self._outlines |= {name: outlines.get(name) for name in module_names}


def _list_modules(tree: RepositoryTree) -> dict[str, TreeFile]:
    """Return the files of the modules of a tree; a package goes before a module of its name."""
    modules: dict[str, TreeFile] = {}
    for file in tree.files:
        named = name_module(file.path)
        if named and (named[1] or named[0] not in modules):
            modules[named[0]] = file
    return modules


def _read_outline(file: SourceFile) -> ModuleOutline:
    """Return the outline of a file without its calls, which say nothing about what it defines."""
    outline = None if file.problem else build_outline(file.path, file.text)
    return replace(outline, calls=()) if outline else _NO_OUTLINE
