"""Links from the uses of a profile to the definitions of upstream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from impact.errors import attempt_all
from impact.profile.models import PLAIN_KINDS, DerivedClass, Profile, Use, UseKind
from impact.profile.symbols import ELEMENT, SUPER
from impact.profile.upstream.copies import CopyFinder
from impact.profile.upstream.index import UpstreamIndex

# what a cache of linked profiles is keyed by: change it with what a link leads to
LINK_VERSION = 1
# members that every class has; upstream defines them too, and nobody depends on that
_COMMON_MEMBERS = frozenset("__repr__ __str__ __doc__ __module__ __slots__ __hash__ __dict__ __class__".split())
# what is kept although upstream does not define it at this commit: it may be of another version
_NAMED_KINDS = frozenset({UseKind.IMPORT, UseKind.PATCH, UseKind.SUBCLASS, UseKind.NAMED})


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
        self._profile = profile
        self._upstream = upstream
        self._packages = frozenset(profile.packages)
        self._copies = CopyFinder(profile, upstream)

    def link_class(self, derived: DerivedClass) -> DerivedClass:
        ancestors = dict.fromkeys(
            each
            for base in derived.ancestors
            for each in (self._upstream.find_class(base) or base, *self._upstream.list_ancestors(base))
        )
        return replace(derived, ancestors=tuple(ancestors))

    def link(self, use: Use) -> Iterator[Use]:
        """Yield a use with what it leads to upstream; nothing if it leads nowhere."""
        if use.kind in PLAIN_KINDS:
            yield use
        elif use.kind is UseKind.COPY:
            yield from self._copies.link(use)
        elif use.kind is UseKind.POSSIBLE_CALL:
            yield use
        else:
            is_upstream = use.name.partition(".")[0] in self._packages
            links = tuple(self._link_upstream(use) if is_upstream else self._link_member(use))
            yield from links or _turn_possible(use)

    def _link_upstream(self, use: Use) -> Iterator[Use]:
        definitions = self._upstream.find_definitions(use.name)
        if use.kind is UseKind.READ and self._is_module(use.name):
            # a step on the way to a name in the module
            return
        if not definitions and use.kind is UseKind.NAMED and use.name.count(".") == 1:
            # ops are named like this where graphs are split
            yield replace(use, kind=UseKind.OP, name=f"torch.ops.{use.name}")
        elif definitions or self._is_direct(use):
            if use.kind is UseKind.CALL:
                definitions += self._upstream.list_inherited_constructors(use.name)
            yield replace(use, name=_clean(use.name), definitions=definitions)

    def _is_direct(self, use: Use) -> bool:
        """Return whether a use names something itself, so that it counts although upstream has no such name."""
        if use.kind in _NAMED_KINDS:
            return True
        owner = use.name.rpartition(".")[0]
        # the module is there, and the name is not
        return self._upstream.get_outline(owner) is not None

    def _is_module(self, name: str) -> bool:
        place = self._upstream.find_place(name)
        return place is not None and not place.name

    def _link_member(self, use: Use) -> Iterator[Use]:
        derived, parts = self._split(use.name)
        if derived is None or not parts or parts[-1] in _COMMON_MEMBERS:
            return
        rest = ".".join(parts)
        definitions: dict[str, None] = {}
        name = ""
        for base in derived.ancestors:
            own = self._upstream.find_definitions(f"{base}.{rest}")
            name = name or (f"{base}.{rest}" if own else "")
            definitions.update(dict.fromkeys(own))
        if definitions:
            # an object is made by the nearest constructor alone
            count = 1 if parts == ["__init__"] and use.kind is UseKind.CALL else None
            yield replace(use, name=_clean(name), definitions=tuple(definitions)[:count])

    def _split(self, name: str) -> tuple[DerivedClass | None, list[str]]:
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            derived = self._profile.classes.get(".".join(parts[:length]))
            if derived:
                return derived, parts[length:]
        return None, []


def _turn_possible(use: Use) -> Iterator[Use]:
    """Yield a call that leads nowhere as one on an object of unknown type, if its method may be upstream's."""
    for method in use.definitions:
        yield replace(use, kind=UseKind.POSSIBLE_CALL, name=method, definitions=())


def _clean(name: str) -> str:
    """Return a symbol as a name: without the parts that only say that an element was taken."""
    return ".".join(part for part in name.split(".") if part not in {ELEMENT, SUPER})
