"""``prdigest risks score``: what became of the lists of the posted digests, in a terminal."""

from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.helpers.checks import is_one_sentence
from tests.helpers.processes.command import prdigest

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("store")
def test_a_store_without_digests_says_what_to_do(tmp_path: Path, store_url: str) -> None:
    settings = {"REDIS_URL": store_url, "PRDIGEST_REPO": "octo/engine"}
    done = prdigest("risks", "score", "2026-01-01..2026-03-31", settings=settings, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    first, _, rest = done.stdout.partition("\n")
    assert first == "octo/engine, 1 January – 31 March 2026"  # noqa: RUF001 (a dash)
    assert "There is nothing to score" in rest


@pytest.mark.parametrize("days", ["0d", "soon", "400d"])
def test_days_that_can_not_be_scored_are_one_sentence(call_command: Call, store_url: str, days: str) -> None:
    settings = {"REDIS_URL": store_url, "PRDIGEST_REPO": "octo/engine"}
    done = call_command("risks", "score", days, settings=settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_sentence(done.stderr.strip())
