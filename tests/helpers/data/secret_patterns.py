"""The patterns of credentials of the library detect-secrets, which measures ours and looks through the project."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

# public addresses of machines are no credentials; entropy and key words are no patterns, and guess
# (docs/decisions/0011-text-from-outside.md)
LEFT_OUT = {"IPPublicDetector"}


@cache
def find_patterns() -> tuple[re.Pattern[str], ...]:
    """Import the library's plugins, which takes half a second, and list their patterns."""
    plugins = importlib.import_module("detect_secrets.plugins")
    for module in pkgutil.iter_modules(plugins.__path__):
        importlib.import_module(f"{plugins.__name__}.{module.name}")
    base = importlib.import_module("detect_secrets.plugins.base").RegexBasedDetector
    return tuple(
        pattern for kind in _subclasses(base) if kind.__name__ not in LEFT_OUT for pattern in kind.denylist
    )


def _subclasses(kind: Any) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)
