import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.helpers.checks import eventually
from tests.helpers.processes.command import Process, Start, started

_ADDRESS = re.compile(r"(?P<url>http://127\.0\.0\.1:\d+)/\?token=\S+")


@dataclass(frozen=True, slots=True)
class Demo:
    """A demo that runs, the folder in which it keeps what is temporary, and the file with all that it says."""

    process: Process
    folder: Path
    output: Path

    @property
    def output_text(self) -> str:
        return self.output.read_text()

    @property
    def address(self) -> str:
        return self._printed[0]

    @property
    def url(self) -> str:
        """Where its page is, for a browser that was there before."""
        return self._printed["url"]

    @property
    def _printed(self) -> re.Match[str]:
        match = _ADDRESS.search(self.output_text)
        assert match, self.output_text
        return match

    def interrupt(self) -> int:
        """What Ctrl-C does; gives the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)

    def processes(self) -> list[int]:
        """The pids of those that work in its folder, such as its store's."""
        return [int(file.parent.name) for file in Path("/proc").glob("[0-9]*/cmdline") if self._is_in(file)]

    def _is_in(self, file: Path) -> bool:
        try:
            return os.fsencode(self.folder) in file.read_bytes()
        except OSError:
            return False


@contextmanager
def running_demo(*options: str, start: Start = started) -> Iterator[Demo]:
    """A demo whose page is there; its bot may still be starting. It is ended in the end if it runs on."""
    # a short path: its store listens on a socket in there
    with TemporaryDirectory(prefix="demo-") as name, ExitStack() as stack:
        folder, output_path = Path(name, "tmp"), Path(name, "said.txt")
        folder.mkdir()
        with output_path.open("wb") as file:
            files = (0, file.fileno(), file.fileno())
            process = start("demo", *options, settings={"TMPDIR": str(folder)}, folder=Path(name), files=files)
        demo = Demo(process, folder, output_path)
        stack.callback(demo.interrupt)
        assert eventually(lambda: process.poll() is not None or _ADDRESS.search(demo.output_text)), (
            demo.output_text
        )
        yield demo
