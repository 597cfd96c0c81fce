"""Which tests run: all by ``--all``, those by examples by default, the quick ones by ``-m "not slow"``."""

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

TESTS = Path(__file__).parent.parent

# trials of the whole bot, by very many cases, in a browser or as a package, and tests of what tests stand on: CI
# runs them (decision 23)
APART = frozenset(
    (
        "attacks benchmarks browser crash demo deploy emulators evals faults helpers hostile release replay "
        "simulation"
    ).split()
)

# slow as a whole: they start processes and wait for them
_SLOW = frozenset("browser crash demo mcp scenarios simulation".split())


def pytest_addoption(parser: pytest.Parser) -> None:
    folders = ", ".join(sorted(APART))
    parser.addoption("--all", action="store_true", help=f"run properties and these folders, too: {folders}")


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
    if _is_property(item) or not _SLOW.isdisjoint(item.nodeid.partition("::")[0].split("/")):
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out properties, unless all is asked for or a path is named: they try very many cases.

    Before others look at the items: Hypothesis reads the constants of all modules if there is a property.
    """
    if config.getoption("--all") or not names_no_path(config):
        return
    by_examples: list[pytest.Item] = []
    properties: list[pytest.Item] = []
    for item in items:
        (properties if _is_property(item) else by_examples).append(item)
    config.hook.pytest_deselected(items=properties)
    items[:] = by_examples


def _is_property(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)


def is_quick(config: pytest.Config) -> bool:
    """Tell whether only quick tests run."""
    return bool(config.option.markexpr == "not slow")


def names_no_path(config: pytest.Config) -> bool:
    return bool(config.args == config.getini("testpaths"))
