import os
from pathlib import Path

import pytest
from hypothesis import settings

# HYPOTHESIS_PROFILE=search looks for new ones
settings.register_profile("same", deadline=None, max_examples=20, database=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1_500, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(scope="session")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests work that have no folder of their own."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, empty_folder: Path) -> None:
    monkeypatch.chdir(empty_folder)
