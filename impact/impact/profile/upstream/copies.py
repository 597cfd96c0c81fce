"""Functions of the team that were copied from upstream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from impact.profile.models import Profile, Use, UseKind
from impact.profile.scanners.sketch import MIN_LIKENESS, measure_likeness
from impact.profile.upstream.index import UpstreamIndex
from impact.python.models import DefinitionKind
from impact.python.module_names import get_owner

# modules that a copy is looked for in, for one file
_MAX_MODULES = 60


class CopyFinder:
    """Compares functions of the team with those of the same name in the modules that their files import from."""

    def __init__(self, profile: Profile, upstream: UpstreamIndex) -> None:
        self._profile, self._upstream = profile, upstream
        self._modules: dict[str, dict[str, None]] | None = None
        self._called: dict[str, Mapping[str, frozenset[str]]] = {}

    def link(self, use: Use) -> Iterator[Use]:
        owner, _, member = use.name.rpartition(".")
        derived = self._profile.classes.get(owner)
        if derived:
            names = [name for base in derived.ancestors for name in self._upstream.find_member(base, member)[:1]]
        else:
            names = [f"{module}.{member}" for module in self._list_modules(use.path)]
        for name in names:
            if self._is_like(use.body, name):
                yield replace(use, name=name, definitions=(name,), body="")
                return

    def _list_modules(self, path: str) -> tuple[str, ...]:
        if self._modules is None:
            self._modules = defaultdict(dict)
            for use in self._profile.uses:
                if use.kind in {UseKind.IMPORT, UseKind.PATCH}:
                    place = self._upstream.find_place(use.name) or self._upstream.find_place(get_owner(use.name))
                    if place:
                        self._modules[use.path][place.module] = None
        return tuple(self._modules.get(path, {}))[:_MAX_MODULES]

    def _is_like(self, sketch: str, name: str) -> bool:
        place = self._upstream.find_place(name)
        outline = self._upstream.get_outline(place.module) if place else None
        if place is None or outline is None:
            return False
        definition = outline.definitions.get(place.name)
        if definition is None or definition.kind not in {DefinitionKind.FUNCTION, DefinitionKind.METHOD}:
            return False
        return measure_likeness(sketch, self._list_called(place.module).get(place.name, ())) >= MIN_LIKENESS

    def _list_called(self, module: str) -> Mapping[str, frozenset[str]]:
        if module not in self._called:
            called = defaultdict[str, set[str]](set)
            outline = self._upstream.get_outline(module)
            for call in outline.calls if outline else ():
                called[call.scope].add(call.name.rpartition(".")[2].removesuffix("()"))
            self._called[module] = {scope: frozenset(names) for scope, names in called.items()}
        return self._called[module]
