"""Which tests run: all by ``--all``, those of the bot by default, the quick ones by ``-m "not slow"``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

TESTS = Path(__file__).parent.parent

# trials of the whole bot, by very many cases, in a browser or as a package, and tests of what tests stand on: CI
# runs them (decision 84)
APART = frozenset(
    (
        "attacks benchmarks browser crash demo deploy emulators evals faults helpers hostile release simulation "
        "upgrade"
    ).split()
)

# slow as a whole: they start processes and wait for them
_SLOW = frozenset("browser crash demo mcp scenarios simulation upgrade".split())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that ``.ci/run`` sets."""
    parser.addoption("--all", action="store_true", help=f"collect these folders, too: {', '.join(sorted(APART))}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what CI runs, unless it is asked for as a whole or by a path."""
    if collection_path.parent != TESTS:
        return None
    # nothing else would be left of them, and to import them takes a while
    if collection_path.name in _SLOW and is_quick(config):
        return True
    if collection_path.name not in APART or config.getoption("--all"):
        return None
    named = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return None if any(collection_path in (path, *path.parents) for path in named) else True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark whole folders and properties; other modules and tests have the mark themselves."""
    is_property = isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)
    if is_property or not _SLOW.isdisjoint(item.nodeid.partition("::")[0].split("/")):
        item.add_marker(pytest.mark.slow)


def is_quick(config: pytest.Config) -> bool:
    """Tell whether only quick tests run."""
    return bool(config.option.markexpr == "not slow")
