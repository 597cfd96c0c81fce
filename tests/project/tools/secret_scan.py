"""The search for credentials in the files of the project: ``uv run python -m tests.project.tools.secret_scan``.

It ends with 1 if a file holds what looks like one, and prints its line. The patterns are those of detect-secrets.
Its own command takes a minute on these files, as it looks at each word; here each pattern looks at a whole file.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.data.secret_patterns import find_patterns

ROOT = Path(__file__).parents[3]
# what is no text, or hashes alone
_SKIPPED = (".gz", ".png", ".webp", ".lock")
# what these hold is made up, and opens nothing
MADE_UP = frozenset(
    """
    impact/tests/git/test_clone.py tests/platform/store/test_connection.py
    tests/connections/test_app.py tests/doctor/test_agents.py tests/doctor/test_settings.py
    tests/doctor/test_store.py
    tests/doctor/test_installations.py tests/texts/test_redaction.py tests/helpers/data/attacks.py
    tests/hostile/tables/addresses.py
    tests/hostile/tables/credentials.py tests/hostile/tables/store_faults.py
    tests/features/questions/test_source_tools.py tests/features/questions/test_tools.py
    tests/settings/test_secret_values.py
    """.split()
)


def list_files() -> list[str]:
    """Return the files that git has, and those that it would take. Raises CalledProcessError without git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = (name for name in done.stdout.split("\0") if name and not name.endswith(_SKIPPED))
    return sorted(name for name in names if (ROOT / name).is_file())


def find_lines(text: str) -> Iterator[int]:
    """Yield the numbers of the lines that hold what looks like a credential; the value is not repeated."""
    for pattern in find_patterns():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1


def main() -> int:
    """Print where credentials are; return 1 if there are any."""
    strays = [
        f"{name}:{line}: looks like a credential: remove it, and have it revoked\n"
        for name in list_files()
        if name not in MADE_UP
        for line in sorted(set(find_lines((ROOT / name).read_text(errors="replace"))))
    ]
    sys.stdout.write("".join(strays))
    return 1 if strays else 0


if __name__ == "__main__":
    sys.exit(main())
