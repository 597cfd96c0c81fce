"""A profile as linked to an upstream at two commits."""

from __future__ import annotations

from dataclasses import replace

from impact.profile.models import DerivedClass, Profile, Use


def combine_links(now: Profile, earlier: Profile) -> Profile:
    """Return what uses lead to at either commit of upstream: what was removed between is in the earlier alone."""
    uses = {_identify(use): use for use in now.uses}
    for use in earlier.uses:
        known = uses.get(_identify(use))
        definitions = dict.fromkeys((*(known.definitions if known else ()), *use.definitions))
        uses[_identify(use)] = replace(known or use, definitions=tuple(definitions))
    classes = {name: _combine_classes(each, earlier.classes.get(name)) for name, each in now.classes.items()}
    return replace(now, uses=tuple(uses.values()), classes={**earlier.classes, **classes})


def _identify(use: Use) -> tuple[str, str, str, int, str]:
    return use.kind, use.name, use.path, use.line, use.owner


def _combine_classes(now: DerivedClass, earlier: DerivedClass | None) -> DerivedClass:
    ancestors = dict.fromkeys((*now.ancestors, *(earlier.ancestors if earlier else ())))
    return replace(now, ancestors=tuple(ancestors))
