"""How many examples a property is tried with: few by default, more by ``--all``, and new ones on request."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# a change is judged by the same examples each time; HYPOTHESIS_PROFILE=search looks for new ones. Machines that
# run tests are small and shared: an example may be slow without being wrong
settings.register_profile("few", deadline=None, max_examples=10, database=None, derandomize=True)
settings.register_profile("more", settings.get_profile("few"), max_examples=20)
settings.register_profile("search", deadline=None, max_examples=1_500, database=None)


def pytest_configure(config: pytest.Config) -> None:
    """Choose before the tests are imported: some take more examples than a profile has."""
    usual = "more" if config.getoption("--all") else "few"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", usual))
