"""What xdist has each of its processes run, by sending this text: the tests that a fork has collected already."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

if __name__ == "__channelexec__":
    # not imported: pytest wants to be the first to import what has to do with it
    server = sys.modules.get("tests.helpers.prefork.server")
    if server is not None and server.collected is not None:
        server.collected.run(channel)  # type: ignore[name-defined] # noqa: F821
    else:
        # this process is none of the forks, and collects by itself
        xdist = find_spec("xdist")
        assert xdist is not None
        assert xdist.origin is not None
        usual = Path(xdist.origin).with_name("remote.py")
        runpy.run_path(str(usual), {"channel": channel}, __name__)  # type: ignore[name-defined] # noqa: F821
