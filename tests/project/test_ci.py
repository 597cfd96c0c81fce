"""How ``.ci/run`` comes by uv, also where pip refuses, and what the scripts beside it run and say."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.files import list_arguments
from tests.helpers.processes.command import ROOT

pytestmark = pytest.mark.slow

PACKAGES = [
    f"{check}{name}{rest}"
    for name in ("localslack", "impact")
    for check, rest in (("--directory ", " mypy"), ("--directory ", " lint-imports"), ("pytest ", ""))
]
AUDIT = "audit --locked --preview-features audit-command"
SUPPLY = ["pip-licenses --summary", "python -m tests.project.tools.secret_scan"]
SYNC = "sync --quiet --locked --group deploy --group docs"
OWN = ["ruff check .", "ruff format --check .", "mypy", "lint-imports", *SUPPLY]
# what uv is called with
CHECKS = [
    SYNC,
    *(f"run --locked {each}" for each in OWN),
    AUDIT,
    *(f"run --locked {each}" for each in (*PACKAGES, "pytest --all")),
]
# a Python that notes what it is asked for, and where `MANAGED` refuses as Debian's does
PYTHON = """#!/bin/sh
echo "python3 $*" >> "$LOG"
case "$*" in
    "-m uv --version") [ -e "$HAS_UV" ] ;;
    "-m pip install"*) [ -z "$MANAGED" ] && touch "$HAS_UV" ;;
    "-m venv .uv") mkdir -p .uv/bin && cp "$TOOLS/pip" .uv/bin/pip ;;
    *"coverage run -m pytest --fail") exit 1 ;;
    "-m uv audit"*) [ -z "$DATABASE_AWAY" ] || exit 2 ;;
    "-m uv run --locked"*) [ -e "$HAS_UV" ] && [ "$UV_PYTHON" != 3.12 ] ;;
    "-m uv sync "*) ;;
    "-m uv python find --system 3.13"|"-m uv python install 3.14") exit 1 ;;
    "-m uv python find --system 3.14") exit 1 ;;
    "-m uv python "*) ;;
    *) exit 64 ;;
esac
"""
PIP = """#!/bin/sh
echo "pip $*" >> "$LOG"
printf '#!/bin/sh\\necho "own uv $*" >> "$LOG"\\n' > .uv/bin/uv && chmod +x .uv/bin/uv
"""
DOCKER = """#!/bin/sh
echo "docker $*" >> "$LOG"
[ -z "$REGISTRY_AWAY" ]
"""


def run_script(
    folder: Path, name: str, *arguments: str, managed: bool, has_uv: bool, **settings: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run a script in a checkout that has nothing else; return how it ended, and what it called as lines."""
    tools, log = folder / "tools", folder / "log"
    tools.mkdir()
    for tool, text in {"python3": PYTHON, "pip": PIP, "docker": DOCKER, "chromium": "#!/bin/sh\n"}.items():
        (tools / tool).write_text(text)
        (tools / tool).chmod(0o755)
    shutil.copytree(ROOT / ".ci", folder / "checkout" / ".ci")
    shutil.copytree(ROOT / "deploy", folder / "checkout" / "deploy")
    shutil.copy(ROOT / ".python-version", folder / "checkout")
    if has_uv:
        (folder / "has-uv").touch()
    env = {
        "PATH": f"{tools}:/usr/bin:/bin",
        "TOOLS": str(tools),
        "LOG": str(log),
        "HAS_UV": str(folder / "has-uv"),
        "MANAGED": "yes" if managed else "",
        "DATABASE_AWAY": "",
        "HOME": os.environ.get("HOME", "/"),
        **settings,
    }
    bash = shutil.which("bash")
    assert bash
    script = [bash, f".ci/{name}", *arguments]
    place = folder / "checkout"
    done = subprocess.run(script, cwd=place, env=env, capture_output=True, text=True, check=False)
    return done, log.read_text().splitlines()


def run_checks(folder: Path, *, managed: bool, has_uv: bool) -> list[str]:
    """Run all checks; return what was called."""
    done, called = run_script(folder, "run", managed=managed, has_uv=has_uv)
    assert done.returncode == 0, done.stderr
    return called


@pytest.mark.parametrize("managed", [False, True])
def test_the_uv_that_python_has_is_used(tmp_path: Path, managed: bool) -> None:
    called = run_checks(tmp_path, managed=managed, has_uv=True)
    assert called == ["python3 -m uv --version", *(f"python3 -m uv {check}" for check in CHECKS)]


def test_python_gets_uv_where_it_takes_packages(tmp_path: Path) -> None:
    called = run_checks(tmp_path, managed=False, has_uv=False)
    assert called[:2] == ["python3 -m uv --version", "python3 -m pip install --quiet uv"]
    assert called[2:] == [f"python3 -m uv {check}" for check in CHECKS]


def test_uv_gets_a_place_of_its_own_where_python_takes_none(tmp_path: Path) -> None:
    called = run_checks(tmp_path, managed=True, has_uv=False)
    assert called[2:4] == ["python3 -m venv .uv", "pip install --quiet uv"]
    assert called[4:] == [f"own uv {check}" for check in CHECKS]


def test_arguments_are_for_pytest(tmp_path: Path) -> None:
    _, called = run_script(tmp_path, "run", "-m", "not slow", managed=False, has_uv=True)
    assert called[-1] == "python3 -m uv run --locked pytest --all -m not slow"


@pytest.mark.parametrize(
    ("away", "arguments", "code"),
    [("", (), 0), ("yes", (), 0), ("yes", ("--required",), 2), ("", ("--required",), 0)],
)
def test_an_audit_that_was_not_answered_says_so(
    tmp_path: Path, away: str, arguments: tuple[str, ...], code: int
) -> None:
    done, called = run_script(tmp_path, "audit", *arguments, managed=False, has_uv=True, DATABASE_AWAY=away)
    assert (done.returncode, called[-1]) == (code, f"python3 -m uv {AUDIT}")
    assert ("NOT CHECKED" in done.stderr) == bool(away)


def run_matrix(folder: Path, pythons: str = "") -> tuple[int, list[str], list[str]]:
    """Run a matrix of which 3.12 fails, 3.13 is installed and 3.14 can't be had."""
    done, called = run_script(folder, "matrix", "tests/texts", managed=False, has_uv=True, PYTHONS=pythons)
    return done.returncode, done.stdout.splitlines()[-3:], called


def test_each_python_runs_all_checks_and_those_that_lack_are_named(tmp_path: Path) -> None:
    code, told, called = run_matrix(tmp_path)
    assert told == ["passed: 3.11 3.13", "failed: 3.12", "neither found nor installable here: 3.14"]
    assert code == 1
    # the one that fails ends at its first check
    checks = [*CHECKS[:-1], "run --locked pytest --all tests/texts"]
    assert [line.partition(" uv ")[2] for line in called if "--locked" in line] == [*checks, *CHECKS[:2], *checks]


@pytest.mark.parametrize(
    ("pythons", "code", "told"),
    [
        ("3.11", 0, ["passed: 3.11", "failed: none", "neither found nor installable here: none"]),
        ("3.11 3.14", 2, ["passed: 3.11", "failed: none", "neither found nor installable here: 3.14"]),
    ],
)
def test_a_python_that_did_not_run_is_no_success(tmp_path: Path, pythons: str, code: int, told: list[str]) -> None:
    assert run_matrix(tmp_path, pythons)[:2] == (code, told)


# an uv that builds what is to be built, and an environment whose commands show what they are asked for
RELEASE_UV = """#!/bin/sh
shift 2
echo "uv $1" >> "$LOG"
case "$1 $2" in
    "version --short") echo 0.1.0 ;;
    "build --quiet") mkdir dist && touch dist/prdigest-0.1.0.whl dist/prdigest-0.1.0.tar.gz ;;
    "venv --quiet")
        mkdir -p "$3/bin"
        for name in prdigest impact localslack; do
            printf '#!/bin/sh\necho "%s"\n' "$SHOWN" > "$3/bin/$name" && chmod +x "$3/bin/$name"
        done ;;
esac
"""
SHOWN = 'prdigest, version 0.1.0 \\"slash_commands\\" --channel #35617 upgrade --bot-url'


def run_release(
    folder: Path, *arguments: str, tag: str = "v0.1.0", shown: str = SHOWN
) -> tuple[int, str, list[str]]:
    """Run the release of a commit with a tag; return its code, what it says, and what it calls."""
    tools, checkout, log = folder / "tools", folder / "checkout", folder / "log"
    tools.mkdir()
    (tools / "python3").write_text(RELEASE_UV)
    (tools / "python3").chmod(0o755)
    shutil.copytree(ROOT / ".ci", checkout / ".ci")
    (checkout / ".gitignore").write_text("dist/\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    git = ["git", "-C", str(checkout), *identity]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["tag", tag]):
        subprocess.run([*git, *step], check=True, capture_output=True)
    log.touch()
    env = {"PATH": f"{tools}:/usr/bin:/bin", "LOG": str(log), "SHOWN": shown, "HOME": str(folder)}
    bash = shutil.which("bash")
    assert bash
    script = [bash, ".ci/release", *arguments]
    done = subprocess.run(script, cwd=checkout, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, log.read_text().splitlines()


def test_a_release_publishes_what_was_built_and_started(tmp_path: Path) -> None:
    code, shown, called = run_release(tmp_path, "--publish")
    assert (code, "0.1.0 is built and starts: prdigest-0.1.0.whl prdigest-0.1.0.tar.gz" in shown) == (0, True), (
        shown
    )
    assert called == ["uv --version", "uv version", "uv build", "uv venv", "uv pip", "uv publish"]


def test_a_release_publishes_nothing_unless_it_is_told_to(tmp_path: Path) -> None:
    code, shown, called = run_release(tmp_path)
    assert (code, called[-1]) == (0, "uv pip"), shown
    assert "Nothing was published: add --publish." in shown


def test_a_release_of_another_tag_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    code, shown, called = run_release(tmp_path, "--publish", tag="v0.0.9")
    assert (code, shown, called[-1]) == (1, "NOT RELEASED: this is not the tag v0.1.0.\n", "uv version")


def test_a_release_whose_command_shows_something_else_is_refused(tmp_path: Path) -> None:
    code, shown, called = run_release(tmp_path, "--publish", shown=SHOWN.replace("#35617", ""))
    assert (code, shown) == (1, "NOT RELEASED: prdigest demo --text does not show #35617.\n")
    assert "uv publish" not in called


@pytest.mark.parametrize(
    ("settings", "code", "calls"),
    [
        ({}, 0, 3),
        ({"REGISTRY_AWAY": "yes"}, 1, 2),
        ({"REGISTRY_AWAY": "yes", "IMAGE_BASE": "localhost/base"}, 0, 2),
    ],
)
def test_the_image_is_not_passed_over_where_its_base_is_away(
    tmp_path: Path, settings: dict[str, str], code: int, calls: int
) -> None:
    done, called = run_script(tmp_path, "image", managed=False, has_uv=True, **settings)
    assert (done.returncode, len(called)) == (code, calls), done.stderr
    base = list_arguments("FROM")[0].partition(" ")[0]
    trial = "python3 -m uv run --locked --group deploy pytest --all tests/deploy"
    assert (f"docker pull --quiet {base}" in called, trial in called) == ("IMAGE_BASE" not in settings, not code)


@pytest.mark.parametrize(("argument", "code"), [("tests/texts", 0), ("--fail", 1)])
def test_coverage_is_shown_also_of_tests_that_fail(tmp_path: Path, argument: str, code: int) -> None:
    done, called = run_script(tmp_path, "coverage", argument, managed=False, has_uv=True)
    assert done.returncode == code
    assert [line.partition("--locked coverage ")[2] for line in called[1:]] == [
        "erase",
        f"run -m pytest {argument}",
        "combine --quiet",
        "report",
    ]
