"""Collects the tests once: the processes that share them are forks of one that has collected.

Each process of pytest-xdist would import and collect all of them by itself, for ten seconds. Here xdist starts a
:mod:`~tests.helpers.prefork.client` in place of each. That one asks the
:mod:`~tests.helpers.prefork.server` for a fork, which takes the client's place towards xdist.
"""

import json
import os
import shlex
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from uuid import uuid4

import pytest

from tests.helpers.prefork import remote
from tests.helpers.prefork.run import RUN, Run
from tests.helpers.processes import command
from tests.plugins.selection import is_quick, names_no_path


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have xdist start forks where it would start processes on this machine as usual."""
    config = session.config
    if not _can_fork(config):
        return
    config.option.testrunuid = config.getoption("testrunuid") or uuid4().hex
    # what plugins tell each process, such as the seed of an order
    node = SimpleNamespace(config=config, workerinput={"testrunuid": config.option.testrunuid})
    config.hook.pytest_configure_node(node=node)
    run = Run(list(map(str, config.invocation_params.args)), sys.path, node.workerinput)
    os.environ[RUN] = json.dumps(vars(run))
    client = shlex.join([sys.executable, "-m", "tests.helpers.prefork.client"])
    config.option.tx = [f"popen//python={client}" for _ in config.option.tx]
    config.pluginmanager.register(_ForkedWorkers())
    if names_no_path(config) and not is_quick(config):
        # it imports the bot while the other one collects; all would wait for that later, for some seconds
        command.forks_of(config.option.testrunuid).prepare()


def _can_fork(config: pytest.Config) -> bool:
    """Return False where forks can't be had, or would not be what they should be."""
    # coverage is measured from the start of each process
    return (
        sys.platform == "linux"
        and not hasattr(config, "workerinput")
        and set(config.getoption("tx", None) or ()) == {"popen"}
        and Path.cwd() == config.rootpath
        and "//" not in sys.executable
        and "coverage" not in sys.modules
    )


class _ForkedWorkers:
    def pytest_xdist_getremotemodule(self) -> ModuleType:
        return remote
