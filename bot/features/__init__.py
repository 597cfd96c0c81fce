"""What people see of the bot: each feature is one to five files that one reads from top to bottom."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages


def import_features() -> None:
    """Import all features, so that all that they keep is declared before something of the store is deleted."""
    for module in walk_packages(__path__, "bot.features."):
        import_module(module.name)
