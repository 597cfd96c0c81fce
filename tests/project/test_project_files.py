import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from tests.helpers.processes.command import ROOT
from tests.helpers.tables import check_rows
from tests.project.tools.secret_scan import list_files

GITHUB = ROOT / ".github"
YAML_FILES = sorted([ROOT / ".pre-commit-config.yaml", *GITHUB.rglob("*.yml")])
FORMS = [path for path in YAML_FILES if path.parent.name == "ISSUE_TEMPLATE" and path.name != "config.yml"]
ROOT_DOCUMENTS = (
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "docs/cost.md",
    "docs/deploy.md",
    "docs/load.md",
    "docs/monitoring.md",
    "docs/permissions.md",
    "docs/privacy.md",
    "docs/releasing.md",
    "docs/risk.md",
    "docs/settings.md",
    "docs/slack.md",
    "docs/troubleshooting.md",
    "tests/README.md",
)
DOCUMENTS = sorted([*(ROOT / name for name in ROOT_DOCUMENTS), *GITHUB.glob("*.md")])


def load_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def list_checks() -> list[str]:
    """What ``.ci/run`` runs through uv, without the arguments of its caller."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("run ").removesuffix(' "$@"') for line in lines if line.startswith("run ")]


def list_pythons() -> list[str]:
    lines = (ROOT / ".python-version").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if re.fullmatch(r"3\.\d+", line)]


def test_packages_are_where_modules_are() -> None:
    """Without ``__init__.py`` a folder is neither checked for types nor found by what reads packages."""
    folders = {PurePosixPath(name).parent for name in list_files() if name.endswith(".py")} - {PurePosixPath()}
    assert len(folders) > 50
    assert [str(folder) for folder in sorted(folders) if not (ROOT / folder / "__init__.py").exists()] == []


@pytest.mark.parametrize("folder", ["impact", "localslack"])
def test_the_bot_needs_its_packages_of_its_own_release(folder: str) -> None:
    bot, package = (
        tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        for path in (ROOT / "pyproject.toml", ROOT / folder / "pyproject.toml")
    )
    assert f"{package['name']}>={package['version']}" in [
        each.replace("[checker]", "") for each in bot["dependencies"]
    ]


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: path.name)
def test_a_yaml_file_is_a_mapping(path: Path) -> None:
    assert isinstance(load_yaml(path), dict)


def test_pre_commit_runs_the_checks_but_the_tests() -> None:
    [own] = load_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    assert own["repo"] == "local"
    assert [hook["entry"] for hook in own["hooks"]] == [
        f"uv run --locked {check}" for check in list_checks() if not check.startswith("pytest")
    ]
    for hook in own["hooks"]:
        assert (hook["language"], hook["pass_filenames"]) == ("system", False)
        assert re.fullmatch(r"[a-z-]+", hook["id"])


class TestWorkflow:
    workflow = load_yaml(GITHUB / "workflows" / "ci.yml")
    job = workflow["jobs"]["checks"]

    def test_it_runs_the_scripts_alone(self) -> None:
        jobs = self.workflow["jobs"].values()
        runs = [[step["run"] for step in job["steps"] if "run" in step] for job in jobs]
        assert runs == [[".ci/run"], [".ci/image", ".ci/release"]]
        assert list_checks()[-1] == "pytest --all"

    def test_it_runs_every_python_that_the_project_names(self) -> None:
        pythons = self.job["strategy"]["matrix"]["python"]
        assert pythons == list_pythons()
        named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
        versions = [line.rpartition(" ")[2] for line in named if re.search(r":: 3\.\d+$", line)]
        assert versions == pythons

    def test_uv_takes_the_python_of_the_matrix(self) -> None:
        assert self.job["env"]["UV_PYTHON"] == "${{ matrix.python }}"
        assert not self.job["strategy"]["fail-fast"]

    def test_it_can_change_nothing_and_runs_no_action_that_can_be_moved(self) -> None:
        assert self.workflow["permissions"] == {"contents": "read"}
        text = (GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8")
        used = [line.strip() for line in text.splitlines() if "uses:" in line]
        steps = [step for job in self.workflow["jobs"].values() for step in job["steps"]]
        assert len(used) == len([step for step in steps if "uses" in step])
        assert [
            line for line in used if not re.fullmatch(r"- uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)
        ] == []


def test_dependabot_looks_after_the_lock_the_actions_and_the_images() -> None:
    updates = load_yaml(GITHUB / "dependabot.yml")["updates"]
    assert [update["package-ecosystem"] for update in updates] == [
        "uv",
        "github-actions",
        "docker",
        "docker-compose",
    ]
    assert {update["directory"] for update in updates[2:]} == {"/deploy"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_the_platform_wants(path: Path) -> None:
    """docs.github.com, "Syntax for GitHub's form schema": each input has an id of its own and a label."""
    form = load_yaml(path)
    assert {"name", "description", "body"} <= form.keys()
    inputs = [each for each in form["body"] if each["type"] != "markdown"]
    assert all(each["attributes"]["label"] for each in inputs)
    ids = [each["id"] for each in inputs]
    assert len(set(ids)) == len(ids) > 0
    assert any(each.get("validations", {}).get("required") for each in inputs)


def test_who_reports_a_bug_is_asked_for_the_doctor() -> None:
    labels = [each["attributes"].get("label") for each in load_yaml(GITHUB / "ISSUE_TEMPLATE" / "bug.yml")["body"]]
    assert "Output of `prdigest doctor`" in labels


@check_rows(DOCUMENTS)
def test_a_document_names_files_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://)([^)#]+)", text)
    assert [link for link in links if not (path.parent / link).exists()] == []
    named = re.findall(r"`((?:[\w.-]+/)*[\w-]*\.(?:md|json|toml|lock|py|yml))`", text)
    assert [name for name in named if not ((ROOT / name).exists() or (path.parent / name).exists())] == []


def test_nobody_is_named_to_whom_to_report() -> None:
    """A vulnerability is reported on the platform; an address would go stale, or be nobody's."""
    assert not re.search(r"\S+@\S+\.\w+", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
