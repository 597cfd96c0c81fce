"""The bot of a GitHub Enterprise Server links to the pages of that server, and reads its addresses."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from redis import Redis

from tests.emulators.github.server import EnterpriseEmulator
from tests.emulators.github.store import changed_file, pull
from tests.helpers.builders import NOON
from tests.helpers.processes.command import prdigest
from tests.helpers.world import SMALL_DAY, world

pytestmark = pytest.mark.slow

REPOSITORY = "ada_corp/engine"
DAY = ("--repo", REPOSITORY, *SMALL_DAY[2:])


@pytest.fixture
def server() -> Iterator[EnterpriseEmulator]:
    with EnterpriseEmulator() as made:
        files = (changed_file("engine/retry.py", patch="@@ -1 +1,2 @@\n one\n+retries = 3"),)
        made.add(REPOSITORY, pull(7, title="Count retries", merged_at=NOON, files=files))
        revert = f"Reverts {made.web}/{REPOSITORY}/pull/7"
        made.add(
            REPOSITORY,
            pull(8, title="Take it back", body=revert, merged_at=NOON + timedelta(minutes=1), files=files),
        )
        yield made


@pytest.fixture
def settings(store: Redis, store_url: str, server: EnterpriseEmulator) -> Iterator[dict[str, str]]:
    del store
    with world(store_url) as there:
        yield {**there.settings, "GITHUB_API_URL": server.url, "GITHUB_TOKEN": server.token}


def test_links_of_a_digest_go_to_the_server(
    settings: dict[str, str], server: EnterpriseEmulator, tmp_path: Path
) -> None:
    done = prdigest("digest", *DAY, "--dry-run", settings=settings, folder=tmp_path)
    assert f"{server.web}/{REPOSITORY}/pull/7" in done.stdout
    assert "github.com" not in done.stdout


def test_what_a_description_takes_back_by_its_address_is_known(settings: dict[str, str], tmp_path: Path) -> None:
    done = prdigest("digest", *DAY, "--dry-run", settings=settings, folder=tmp_path)
    [section] = [each for each in json.loads(done.stdout)["lead"]["blocks"] if "everted" in json.dumps(each)]
    assert "#7" in json.dumps(section)


def test_links_of_a_report_go_to_the_server(
    settings: dict[str, str], server: EnterpriseEmulator, tmp_path: Path
) -> None:
    done = prdigest("report", *DAY, settings=settings, folder=tmp_path)
    assert f"({server.web}/{REPOSITORY}/pull/7/files)" in done.stdout
    assert "github.com" not in done.stdout


def test_a_pull_request_is_named_by_its_address(
    settings: dict[str, str], server: EnterpriseEmulator, tmp_path: Path
) -> None:
    address = f"{server.web}/{REPOSITORY}/pull/7/files"
    done = prdigest("summary", address, "--json", settings=settings, folder=tmp_path)
    assert json.loads(done.stdout)["url"] == f"{server.web}/{REPOSITORY}/pull/7"


def test_the_repository_of_the_settings_may_be_an_address(
    settings: dict[str, str], server: EnterpriseEmulator, tmp_path: Path
) -> None:
    named = {**settings, "PRDIGEST_REPO": f"{server.web}/{REPOSITORY}"}
    assert prdigest("summary", "7", settings=named, folder=tmp_path).returncode == 0
