"""Links from the uses of a profile to the definitions of upstream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from impact.errors import attempt_all
from impact.profile.models import PLAIN_KINDS, DerivedClass, Profile, Use, UseKind
from impact.profile.symbols import SUPER
from impact.profile.upstream import UpstreamIndex
from impact.python.models import DefinitionKind
from impact.python.module_names import get_owner

# what a cache of linked profiles is keyed by: change it with what a link leads to
LINK_VERSION = 2
# members that every class has; upstream defines them too, and nobody depends on that
_COMMON_MEMBERS = frozenset("__repr__ __str__ __doc__ __module__ __slots__ __hash__ __dict__ __class__".split())
# what is kept although upstream does not define it at this commit: it may be of another version
_NAMED_KINDS = frozenset({UseKind.IMPORT, UseKind.PATCH, UseKind.SUBCLASS, UseKind.NAMED})
# modules that a copy is looked for in, for one file
_MAX_MODULES = 60
# share of called names that two functions have in common, above which one is a copy of the other. Unrelated
# functions of the same name rarely have more than a quarter
_MIN_LIKENESS = 0.5


def link_profile(profile: Profile, upstream: UpstreamIndex) -> Profile:
    """Return a profile whose uses have the names under which upstream defines what they use.

    Members of the team's own classes that no upstream class defines are left out, and so is what is read of
    values whose type is unknown. Uses with which a defect is met stay as they are, and their files are unread.
    """
    linker = _Linker(profile, upstream)

    def link_uses(uses: Sequence[Use]) -> dict[Use, None]:
        return dict.fromkeys(linked for use in uses for linked in linker.link(use))

    def link_classes(classes: Sequence[DerivedClass]) -> dict[str, DerivedClass]:
        return {each.name: linker.link_class(each) for each in classes}

    uses, failed = attempt_all(link_uses, profile.uses, lambda use: f"{use.path}:{use.line}")
    classes, lost = attempt_all(link_classes, [*profile.classes.values()], lambda each: each.path)
    linked = replace(profile, uses=(*uses, *failed), classes={**profile.classes, **classes})
    return linked.note_defects([*(use.path for use in failed), *(each.path for each in lost)])


class _Linker:
    def __init__(self, profile: Profile, upstream: UpstreamIndex) -> None:
        self._profile, self._upstream = profile, upstream
        self._packages = frozenset(profile.packages)
        # by file the modules of upstream that it imports from, and by module what its functions call
        self._modules: dict[str, dict[str, None]] | None = None
        self._called: dict[str, Mapping[str, set[str]]] = {}

    def link_class(self, derived: DerivedClass) -> DerivedClass:
        ancestors = dict.fromkeys(
            each
            for base in derived.ancestors
            for each in (self._upstream.find_class(base) or base, *self._upstream.list_ancestors(base))
        )
        return replace(derived, ancestors=tuple(ancestors))

    def link(self, use: Use) -> Iterator[Use]:
        """Yield a use with what it leads to upstream; nothing if it leads nowhere."""
        is_name_alone = use.kind is UseKind.POSSIBLE_CALL or (use.kind is UseKind.NAMED and "." not in use.name)
        if use.kind in PLAIN_KINDS or is_name_alone:
            yield use
        elif use.kind is UseKind.COPY:
            name = next((each for each in self._list_alike(use) if self._is_like(use.body, each)), None)
            if name:
                yield replace(use, name=name, definitions=(name,), body="")
        else:
            is_upstream = use.name.partition(".")[0] in self._packages
            links = tuple(self._link_upstream(use) if is_upstream else self._link_member(use))
            # what leads nowhere is on an object of unknown type, if its method may be upstream's
            possible = (replace(use, kind=UseKind.POSSIBLE_CALL, name=each) for each in use.definitions)
            yield from links or (replace(each, definitions=()) for each in possible)

    def _link_upstream(self, use: Use) -> Iterator[Use]:
        definitions = self._upstream.find_definitions(use.name)
        place = self._upstream.find_place(use.name) if use.kind is UseKind.READ else None
        if place is not None and not place.name:
            # a module: a step on the way to a name in it
            return
        if not definitions and use.kind is UseKind.NAMED and use.name.count(".") == 1:
            # ops are named like this where graphs are split
            yield replace(use, kind=UseKind.OP, name=f"torch.ops.{use.name}")
            return
        # what names something itself counts although upstream has no such name, or no longer where its module is
        is_direct = use.kind in _NAMED_KINDS or self._upstream.get_outline(get_owner(use.name)) is not None
        if definitions or is_direct:
            if use.kind is UseKind.CALL:
                definitions += self._upstream.list_inherited_constructors(use.name)
            yield replace(use, name=_clean(use.name), definitions=definitions)

    def _link_member(self, use: Use) -> Iterator[Use]:
        """Yield the use of a member of a class of the team, if upstream has it."""
        parts = use.name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            derived = self._profile.classes.get(".".join(parts[:length]))
            if derived:
                break
        else:
            return
        members = parts[length:]
        if members[-1] in _COMMON_MEMBERS:
            return
        paths = [".".join((base, *members)) for base in derived.ancestors]
        links = {path: own for path in paths if (own := self._upstream.find_definitions(path))}
        if links:
            definitions = tuple(dict.fromkeys(name for own in links.values() for name in own))
            # an object is made by the nearest constructor alone
            count = 1 if members == ["__init__"] and use.kind is UseKind.CALL else None
            yield replace(use, name=_clean(next(iter(links))), definitions=definitions[:count])

    # --- functions that were copied from upstream

    def _list_alike(self, use: Use) -> list[str]:
        """Return the functions of the name in the classes above, or in the modules that the file imports from."""
        owner, _, member = use.name.rpartition(".")
        derived = self._profile.classes.get(owner)
        if derived:
            return [name for base in derived.ancestors for name in self._upstream.find_member(base, member)[:1]]
        if self._modules is None:
            self._modules = defaultdict(dict)
            for each in self._profile.uses:
                if each.kind in {UseKind.IMPORT, UseKind.PATCH}:
                    place = self._upstream.find_place(each.name) or self._upstream.find_place(get_owner(each.name))
                    if place:
                        self._modules[each.path][place.module] = None
        return [f"{module}.{member}" for module in list(self._modules.get(use.path, {}))[:_MAX_MODULES]]

    def _is_like(self, sketch: str, name: str) -> bool:
        place = self._upstream.find_place(name)
        definition = self._upstream.get_definition(place)
        functions = {DefinitionKind.FUNCTION, DefinitionKind.METHOD}
        if place is None or definition is None or definition.kind not in functions:
            return False
        if place.module not in self._called:
            called = self._called[place.module] = defaultdict(set)
            outline = self._upstream.get_outline(place.module)
            for call in outline.calls if outline else ():
                called[call.scope].add(call.name.rpartition(".")[2].removesuffix("()"))
        first, second = set(sketch.split()), self._called[place.module].get(place.name, set())
        return len(first & second) >= _MIN_LIKENESS * max(len(first | second), 1)


def _clean(name: str) -> str:
    """Return a symbol as a name: without the part that only says that a base is asked."""
    return ".".join(part for part in name.split(".") if part != SUPER)


def combine_links(now: Profile, earlier: Profile) -> Profile:
    """Return what uses lead to at either commit of upstream: what was removed between is in the earlier alone."""
    uses = {_identify(use): use for use in now.uses}
    for use in earlier.uses:
        known = uses.get(_identify(use))
        definitions = dict.fromkeys((*(known.definitions if known else ()), *use.definitions))
        uses[_identify(use)] = replace(known or use, definitions=tuple(definitions))
    classes = {**earlier.classes, **now.classes}
    for name in earlier.classes.keys() & now.classes.keys():
        ancestors = dict.fromkeys((*now.classes[name].ancestors, *earlier.classes[name].ancestors))
        classes[name] = replace(classes[name], ancestors=tuple(ancestors))
    return replace(now, uses=tuple(uses.values()), classes=classes)


def _identify(use: Use) -> tuple[str, str, str, int, str]:
    return use.kind, use.name, use.path, use.line, use.owner
