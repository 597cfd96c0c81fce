"""The workflow in docs/: its steps run in a small repository, as a runner runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from impact.testing.clones import building, git, needs_git

pytestmark = needs_git

WORKFLOW = Path(__file__).parents[2] / "docs" / "workflows" / "impact.yml"
BEFORE = b"def run(tokens):\n    return tokens\n"
CHANGES = {
    "breaks": (b"def run(tokens, limit):\n    return tokens[:limit]\n", 3, "::error file=engine/core.py,line=1::"),
    "adds": (BEFORE + b"\n\ndef stop():\n    return None\n", 0, "Nothing of it touches"),
}


@pytest.mark.parametrize(("after", "status", "told"), CHANGES.values(), ids=CHANGES)
def test_the_steps_check_a_pull_request(tmp_path: Path, after: bytes, status: int, told: str) -> None:
    with building(tmp_path / "downstream-at") as builder:
        builder.commit("Serve", {"app/serve.py": b"from engine.core import run\n\nrun([1])\n"})
    with building(tmp_path / "made") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", "engine/core.py": BEFORE})
    place, name = tmp_path / "work" / "engine", ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(tmp_path, "clone", "-q", str(tmp_path / "made"), str(place))
    # as the checkout leaves it: the head of the pull request, merged into a base that went on meanwhile
    git(place, "checkout", "-q", "--detach")
    (place / "engine/core.py").write_bytes(after)
    git(place, *name, "commit", "-qam", "Change")
    head = git(place, "rev-parse", "HEAD")
    git(place, "checkout", "-q", "HEAD~1")
    (place / "engine/other.py").write_bytes(b"ELSEWHERE = 1\n")
    git(place, "add", "engine/other.py")
    git(place, *name, "commit", "-qm", "Something else (#2)")
    base = git(place, "rev-parse", "HEAD")
    git(place, *name, "merge", "-q", "--no-ff", "-m", "Merge", head)
    (job,) = yaml.safe_load(WORKFLOW.read_text())["jobs"].values()
    *_, step = (each for each in job["steps"] if "run" in each)
    values = {
        **job["env"],
        "DOWNSTREAM": f"file://{tmp_path / 'downstream-at'}",
        "BASE": base,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
    }
    assert step["env"] == {"BASE": "${{ github.event.pull_request.base.sha }}"}
    # as a runner starts a step that names no shell: docs.github.com, "Workflow syntax", on the shell
    script = tmp_path / "step.sh"
    script.write_text(step["run"])
    line = ["bash", "-e", str(script)]
    done = subprocess.run(line, cwd=place, env=values, capture_output=True, text=True, check=False)
    # a runner takes each such line of the output for a command
    commands = [each for each in done.stdout.splitlines() if each.startswith("::")]
    assert all(each.startswith(("::error", "::warning", "::notice")) for each in commands)
    assert (done.returncode, told in done.stdout) == (status, True), done.stdout + done.stderr
