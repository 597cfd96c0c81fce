from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from impact.contract.deprecations import Deprecation, DeprecationNews
from impact.contract.models import PYTHON_CLASSES, ContractClass
from impact.errors import attempt
from impact.profile.models import PLAIN_KINDS, DerivedClass, Profile, Use, UseKind

# changes of fields, which have their class in their name, and the uses that may have the field alone
_FIELD_USES = {
    ContractClass.API_FIELD: UseKind.API_FIELD,
    ContractClass.WIRE: UseKind.API_FIELD,
    ContractClass.CONFIGURATION: UseKind.CONFIGURATION,
}
# a shorter name of one word, such as model or n, is a field of many classes
_MIN_TELLING = 6


class ProfileIndex:
    """The uses of a profile by name, and its classes by upstream ancestor."""

    def __init__(self, profile: Profile) -> None:
        self._uses: dict[str, list[Use]] = defaultdict(list)
        self._within: dict[str, list[Use]] = defaultdict(list)
        self._plain: dict[str, list[Use]] = defaultdict(list)
        self._classes: dict[str, list[DerivedClass]] = defaultdict(list)
        failed = [use.path for use in profile.uses if attempt(use.path, self._add_use, use) is None]
        self.profile = profile.note_defects(failed) if failed else profile
        for derived in profile.classes.values():
            for ancestor in derived.ancestors:
                self._classes[ancestor].append(derived)

    def list_uses(self, name: str) -> list[Use]:
        """Return the uses of exactly this name of Python code, by the name that is imported or defined."""
        return self._uses.get(name, [])

    def list_uses_within(self, name: str) -> list[Use]:
        """Return the uses of a name and of what is in it: of a module's functions, of a class's members."""
        return self._within.get(name, [])

    def list_plain_uses(self, name: str) -> list[Use]:
        """Return the uses of a flag, variable, metric, field or other name that is not Python code."""
        return self._plain.get(normalize_plain_name(name), [])

    def list_field_uses(self, subject: ContractClass, name: str) -> list[Use]:
        """Return the uses of a field, such as ``ChatCompletionRequest.guided_json``, that don't say its class."""
        owner, field = split_field(name)
        is_telling = len(field) >= _MIN_TELLING or "_" in field
        if not owner or subject not in _FIELD_USES or not is_telling:
            return []
        return [use for use in self.list_plain_uses(field) if use.kind is _FIELD_USES[subject]]

    def is_called(self, name: str) -> bool:
        """Return whether the team makes instances of a class of its own itself."""
        derived = self.profile.classes.get(name)
        return derived is not None and derived.is_called

    def list_derived(self, ancestor: str) -> list[DerivedClass]:
        return self._classes.get(ancestor, [])

    def _add_use(self, use: Use) -> Use:
        if use.kind in PLAIN_KINDS:
            name = normalize_plain_name(use.name)
            self._plain[name].append(use)
            if use.kind is UseKind.FLAG and name.startswith("--no-"):
                self._plain[f"--{name.removeprefix('--no-')}"].append(use)
            return use
        names = dict.fromkeys((use.name, *use.definitions))
        # both before either: a use with which a defect is met is under no name
        # a constructor that a class inherits makes its call no use of the base
        own = [name for name in names if name == use.name or not name.endswith(".__init__")]
        enclosing = dict.fromkeys(
            ".".join(parts[:length])
            for parts in (name.split(".") for name in own)
            for length in range(1, len(parts) + 1)
        )
        for name in names:
            self._uses[name].append(use)
        for name in enclosing:
            self._within[name].append(use)
        return use


def normalize_plain_name(name: str) -> str:
    return name.replace("_", "-") if name.startswith("--") else name


def split_field(name: str) -> tuple[str, str]:
    """Return the class or endpoint of a field, empty if there is none, and the field alone."""
    owner, _, field = name.replace("?", ".").rpartition(".")
    return owner, field


@dataclass(frozen=True, slots=True)
class UsedDeprecation:
    """A deprecation and a profile's uses of it, by file and line; none if it doesn't concern the profile."""

    entry: Deprecation
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class DeprecationStep:
    news: DeprecationNews
    used: UsedDeprecation


def find_uses(entries: Iterable[Deprecation], index: ProfileIndex) -> tuple[UsedDeprecation, ...]:
    """Return each deprecation with its uses, in the same order."""
    return tuple(UsedDeprecation(entry, attempt(entry.name, _list_uses, entry, index) or ()) for entry in entries)


def _list_uses(entry: Deprecation, index: ProfileIndex) -> tuple[Use, ...]:
    if entry.subject in PYTHON_CLASSES:
        uses = index.list_uses_within(entry.name)
    else:
        uses = index.list_plain_uses(entry.name) + index.list_field_uses(entry.subject, entry.name)
    return tuple(sorted(uses, key=lambda use: (use.path, use.line)))
