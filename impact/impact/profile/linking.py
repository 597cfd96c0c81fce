"""Links from the uses of a profile to the definitions of upstream, whose modules are read as they are needed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from impact.errors import attempt_all
from impact.profile.models import PLAIN_KINDS, DerivedClass, Profile, Use, UseKind
from impact.profile.symbols import (
    MAX_ANNOTATION_LENGTH,
    SUPER,
    ExpressionReader,
    parse_annotation,
    read_annotation,
)
from impact.python.models import Definition, DefinitionKind, ModuleOutline
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
# re-exports, aliases and values from one name to what it is in the end; more are a circle
_MAX_DEPTH = 16
# ancestors of one class that are kept
_MAX_ANCESTORS = 200
_CALL = re.compile(r"[A-Za-z_][\w.]{0,200}\(", re.A)


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


# --- what the names of upstream stand for


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name is defined: its module, and its name in it, empty for the module itself."""

    module: str
    name: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


class UpstreamIndex:
    def __init__(self, load: Callable[[str], ModuleOutline | None]) -> None:
        self._load = load
        self._outlines: dict[str, ModuleOutline | None] = {}
        # what leads to itself ends where it is met again
        self._places: dict[str, Place | None] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._values: dict[str, str | None] = {}

    def get_outline(self, module: str) -> ModuleOutline | None:
        """Return the outline of a module; None if there is none, or it can't be read."""
        if module not in self._outlines:
            self._outlines[module] = self._load(module)
        return self._outlines[module]

    def find_place(self, name: str) -> Place | None:
        """Return where a name is defined; None if it is not. Aliases are not followed: an alias is a name too."""
        if name not in self._places:
            self._places[name] = None
            self._places[name] = self._find_place(name, _MAX_DEPTH)
        return self._places[name]

    def get_definition(self, place: Place | None) -> Definition | None:
        outline = self.get_outline(place.module) if place else None
        return outline.definitions.get(place.name) if outline and place else None

    def find_class(self, name: str, depth: int = _MAX_DEPTH) -> str | None:
        """Return the full name of the class that a name stands for, also behind an alias."""
        place = self.find_place(name)
        definition = self.get_definition(place)
        if definition is None or place is None:
            return None
        if definition.kind is DefinitionKind.CLASS:
            return place.full_name
        if definition.kind is not DefinitionKind.CONSTANT or depth <= 0:
            return None
        target = _read_value(self.get_outline(place.module), definition, definition.value)
        return self.find_class(target, depth - 1) if target and target != name else None

    def list_ancestors(self, name: str) -> tuple[str, ...]:
        """Return the upstream ancestors of a class, in the order in which Python looks for members."""
        owner = self.find_class(name)
        if owner is None:
            return ()
        if owner not in self._ancestors:
            self._ancestors[owner] = ()
            definition = self.get_definition(self.find_place(owner))
            bases = dict.fromkeys(map(self.find_class, definition.bases if definition else ()))
            known = [base for base in bases if base and base != owner]
            lines = [[base, *self.list_ancestors(base)] for base in known]
            self._ancestors[owner] = _merge_lines([*lines, known])
        return self._ancestors[owner]

    def find_member(self, owner: str, member: str) -> tuple[str, ...]:
        """Return the names under which a class and its ancestors define a member, nearest first."""
        name = self.find_class(owner)
        line = (name, *self.list_ancestors(name)) if name else ()
        return tuple(f"{each}.{member}" for each in line if self._has_member(each, member))

    def list_inherited_constructors(self, name: str) -> tuple[str, ...]:
        """Return the constructors of bases that a call of a class runs, or whose fields are arguments of it."""
        owner = self.find_class(name)
        names: list[str] = []
        for each in self.find_member(owner, "__init__") if owner else ():
            names.append(each)
            if self.get_definition(self._place_member(each)):
                # it takes what the call passes, whatever others take
                break
        return tuple(each for each in names if each != f"{owner}.__init__")

    def find_definitions(self, symbol: str) -> tuple[str, ...]:
        """Return the names under which upstream defines what a symbol names.

        For a member these are all in the order of resolution; they are empty if the symbol leads nowhere.
        """
        place = self.find_place(symbol)
        if place is not None and "." not in place.name:
            return (place.full_name,)
        owner, _, member = symbol.rpartition(".")
        value = self.find_value(owner) if owner and member.isidentifier() else None
        if value is None:
            return ()
        if self.find_class(value) is not None:
            return self.find_member(value, member)
        place = self.find_place(f"{value}.{member}")
        return (place.full_name,) if place else ()

    def find_value(self, symbol: str, depth: int = _MAX_DEPTH) -> str | None:
        """Return the class or module that a symbol leads to; None if it is unknown."""
        if symbol not in self._values:
            self._values[symbol] = None
            self._values[symbol] = self._find_value(symbol, depth)
        return self._values[symbol]

    def _find_value(self, symbol: str, depth: int) -> str | None:
        if depth <= 0:
            return None
        place = self.find_place(symbol)
        if place is not None and "." not in place.name:
            return self.find_class(symbol) or self._find_result(place, depth) if place.name else place.module
        owner, _, part = symbol.rpartition(".")
        value = self.find_value(owner, depth - 1) if owner else None
        if value is None or part == SUPER:
            return value
        # the first class that says what a member holds or returns
        results = (self._find_result(self._place_member(name), depth) for name in self.find_member(value, part))
        return next(filter(None, results), None)

    def _find_result(self, place: Place | None, depth: int) -> str | None:
        """Return what a definition holds or returns, by the surest of the texts that say it."""
        definition = self.get_definition(place)
        if place is None or definition is None:
            return None
        texts = [definition.annotation, definition.value]
        if definition.kind in {DefinitionKind.FUNCTION, DefinitionKind.METHOD}:
            texts = [definition.signature.returns if definition.signature else ""]
        for text in filter(None, texts):
            symbol = _read_value(self.get_outline(place.module), definition, text)
            value = self.find_value(symbol, depth - 1) if symbol else None
            if value:
                return value
        return None

    def _place_member(self, name: str) -> Place | None:
        owner, _, member = name.rpartition(".")
        place = self.find_place(owner)
        return Place(place.module, f"{place.name}.{member}") if place else None

    def _has_member(self, owner: str, member: str) -> bool:
        if self.get_definition(self._place_member(f"{owner}.{member}")):
            return True
        # the fields of a data class are its constructor
        definition = self.get_definition(self.find_place(owner)) if member == "__init__" else None
        return definition is not None and definition.is_data

    def _find_place(self, name: str, depth: int) -> Place | None:
        parts = name.split(".") if depth > 0 else []
        for length in range(len(parts), 0, -1):
            outline = self.get_outline(".".join(parts[:length]))
            if outline is not None:
                return self._find_in_module(outline, parts[length:], depth)
        return None

    def _find_in_module(self, outline: ModuleOutline, parts: Sequence[str], depth: int) -> Place | None:
        name = ".".join(parts)
        if not parts or name in outline.definitions:
            return Place(outline.module, name)
        head, rest = parts[0], parts[1:]
        definition = outline.definitions.get(head)
        if definition is not None:
            is_alias = definition.kind is DefinitionKind.CONSTANT and definition.value
            target = _read_value(outline, definition, definition.value) if is_alias else None
            return self._find_place(".".join((target, *rest)), depth - 1) if target else None
        imported = [outline.imports[head]] if head in outline.imports else []
        for target in (*imported, *(f"{star}.{head}" for star in outline.stars)):
            place = self._find_place(".".join((target, *rest)), depth - 1)
            if place is not None:
                return place
        return Place(outline.module, head) if not rest and head in outline.dynamic else None


def _merge_lines(lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Merge the lines of the bases as Python does (C3); if they contradict, keep the first place of each."""
    waiting = [list(line) for line in lines if line]
    merged: list[str] = []
    while waiting and len(merged) < _MAX_ANCESTORS:
        tails = {name for line in waiting for name in line[1:]}
        head = next((line[0] for line in waiting if line[0] not in tails), waiting[0][0])
        merged.append(head)
        waiting = [rest for line in waiting if (rest := [name for name in line if name != head])]
    return tuple(merged)


def _read_value(outline: ModuleOutline | None, definition: Definition, text: str) -> str | None:
    """Return the symbol of an annotation or a value that stands in a definition; None if nothing is known."""
    # of a long call, which is cut, what is called says it all
    call = _CALL.match(text) if len(text) > MAX_ANNOTATION_LENGTH else None
    node = parse_annotation(f"{call[0]})" if call else text)
    if node is None or outline is None:
        return None
    owner = definition.name.rpartition(".")[0]
    annotations = dict(_list_parameters(outline, definition))

    def look_up_global(name: str) -> str | None:
        if name in outline.definitions:
            return f"{outline.module}.{name}"
        if name in outline.imports:
            return outline.imports[name]
        return f"{outline.stars[0]}.{name}" if outline.stars and name.istitle() else None

    def look_up(name: str) -> str | None:
        if owner and name in {"self", "cls", "Self"}:
            return f"{outline.module}.{owner}"
        if name in annotations:
            return read_annotation(parse_annotation(annotations[name]), look_up_global)
        return look_up_global(name)

    try:
        return read_annotation(node, look_up) or ExpressionReader(look_up).read(node)
    except RecursionError:
        return None


def _list_parameters(outline: ModuleOutline, definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield the parameters, with their annotations, of the method that sets an attribute."""
    if definition.kind is DefinitionKind.ATTRIBUTE:
        prefix = f"{definition.name.rpartition('.')[0]}."
        for each in outline.definitions.values():
            is_method = each.kind is DefinitionKind.METHOD and each.name.startswith(prefix)
            if is_method and each.line <= definition.line <= each.end_line:
                parameters = each.signature.parameters if each.signature else ()
                yield from ((parameter.name, parameter.annotation) for parameter in parameters)
                return
