"""What the README says is true: its example runs, its options exist, and it counts the methods."""

import re
import subprocess
import sys
from pathlib import Path

from localslack.cli import main
from localslack.methods.registry import METHODS

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_its_example_of_tests_passes(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "test_example.py").write_text(example)
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "test_example.py"),
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"2 passed" in done.stdout, done.stdout.decode()


def test_it_tells_of_every_option_and_of_no_other() -> None:
    named = set(re.findall(r"`(--[a-z-]+)", README))
    assert named == {option for each in main.params for option in each.opts}


def test_it_counts_the_methods() -> None:
    assert f"the {len(METHODS)} methods" in README


def test_it_tells_of_every_folder() -> None:
    folders = {path.parent.name for path in (PROJECT / "localslack").glob("*/__init__.py")}
    assert folders == set(re.findall(r"^\| `(\w+)/` \|", README, re.MULTILINE))
