"""A profile, indexed by what a change can concern."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from bot.domain.profile.models import DerivedClass, Profile, Use, UseKind

# uses of what is not Python code: they are known by the name that users write
PLAIN_KINDS = frozenset(
    {
        UseKind.OP,
        UseKind.ENTRY_POINT,
        UseKind.ENVIRONMENT,
        UseKind.FLAG,
        UseKind.METRIC,
        UseKind.API_FIELD,
        UseKind.ENDPOINT,
        UseKind.CONFIGURATION,
        UseKind.PIN,
    }
)


class ProfileIndex:
    """The uses of a profile by name, and its classes by upstream ancestor."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._uses: dict[str, list[Use]] = defaultdict(list)
        self._within: dict[str, list[Use]] = defaultdict(list)
        self._plain: dict[str, list[Use]] = defaultdict(list)
        self._classes: dict[str, list[DerivedClass]] = defaultdict(list)
        for use in profile.uses:
            self._add_use(use)
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
        return self._plain.get(name, [])

    def list_derived(self, ancestor: str) -> list[DerivedClass]:
        """Return the team's classes that have an upstream class as an ancestor."""
        return self._classes.get(ancestor, [])

    def _add_use(self, use: Use) -> None:
        if use.kind in PLAIN_KINDS:
            self._plain[use.name].append(use)
            return
        names = dict.fromkeys((use.name, *use.definitions))
        for name in names:
            self._uses[name].append(use)
        for name in dict.fromkeys(_list_enclosing(names)):
            self._within[name].append(use)


def _list_enclosing(names: Iterable[str]) -> Iterator[str]:
    """Yield each name, and the classes, modules and packages that it is in."""
    for name in names:
        yield name
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            yield ".".join(parts[:length])
