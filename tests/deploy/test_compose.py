import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import DEPLOY, PINNED, load_yaml
from tests.helpers.processes.command import ROOT

COMPOSE: Mapping[str, Any] = load_yaml("compose.yaml")
PROCESSES = [line.partition(":")[0] for line in (ROOT / "Procfile").read_text().splitlines()]


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_has_no_rights_and_time_to_end(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["command"] == name
    assert (service["image"], service["read_only"], service["cap_drop"]) == ("prdigest", True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["stop_grace_period"].removesuffix("s")) > 20
    assert service["environment"]["REDIS_URL"] == "redis://valkey:6379/0"
    assert service["depends_on"] == {"valkey": {"condition": "service_healthy"}}


def test_it_has_the_processes_of_the_procfile_and_a_store() -> None:
    assert list(COMPOSE["services"]) == [*PROCESSES, "valkey"]
    # only web listens
    checked = [
        name for name, each in COMPOSE["services"].items() if not each.get("healthcheck", {}).get("disable")
    ]
    assert checked == ["web", "valkey"]


def test_the_store_drops_nothing_and_is_on_a_volume() -> None:
    store = COMPOSE["services"]["valkey"]
    assert PINNED.fullmatch(store["image"])
    assert store["command"].split() == ["valkey-server", "--appendonly", "yes", "--maxmemory-policy", "noeviction"]
    assert store["volumes"] == ["valkey:/data"]
    assert "valkey" in COMPOSE["volumes"]
    assert "ports" not in store


def test_nothing_listens_on_the_network_of_the_machine() -> None:
    ports = [port for each in COMPOSE["services"].values() for port in each.get("ports", ())]
    assert ports == ["127.0.0.1:3000:3000"]


def test_compose_accepts_it(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("there is no docker compose")
    (tmp_path / "deploy").mkdir()
    (tmp_path / ".env").write_text("PRDIGEST_REPO=owner/name\n", encoding="utf-8")
    file = shutil.copy(DEPLOY / "compose.yaml", tmp_path / "deploy")
    command = [docker, "compose", "-f", file, "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
