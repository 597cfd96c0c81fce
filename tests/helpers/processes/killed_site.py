"""Writers of sites that are killed in the middle of a file: ``python -m …killed_site FOLDER COUNT``.

The first one is killed in its first file, the next one in its second, and so on. Each is a process, and a fork of
this one, which has imported what they need. It prints how each of them ended.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from bot.adapters.files.site_folder import LocalSiteFolder, open_site_folder
from bot.services.archive.site_writer import MARKER, write_site
from tests.helpers.data.archive import HEADING, day, days, deadline, merge, outcome

BEFORE = days(4)[1:3]
# a day before it, a day after it, and one that was edited
AFTER = (days(4)[0], BEFORE[0], day(merge(5, outcomes=(outcome(),)), merge(6), date=BEFORE[1].date), days(4)[3])


class DeadlyFolder(LocalSiteFolder):
    """A folder in which so many files can be written; in the middle of the next one, the process is killed."""

    def __init__(self, root: Path, files: int) -> None:
        super().__init__(root)
        self._left = files

    def _replace(self, target: Path, content: bytes) -> None:
        if not self._left:
            (self._root / ".prdigest-part").write_bytes(content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1
        super()._replace(target, content)


def write_until_killed(root: Path, files: int) -> None:
    with open_site_folder(root, MARKER):
        write_site(DeadlyFolder(root, files), HEADING, AFTER, [deadline()])


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    for files in range(count):
        writer = os.fork()
        if not writer:
            write_until_killed(folder / f"killed-{files}", files)
            os._exit(0)
        _, status = os.waitpid(writer, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    main()
