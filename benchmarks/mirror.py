"""How long the first mirror of a repository takes, how large it is, and how long a search of its whole tree takes.

    python -m benchmarks mirror --clone ../vllm.git

The clone is served over HTTP on the loopback by git's own server. The mirror is made as at its last commit.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.table import Table
from bot.platform.git.folder import MirrorFolder, measure_size
from bot.platform.git.mirror import GitMirror, MirrorLimits
from bot.platform.git.reading import MirrorReader
from bot.settings import Settings
from impact.repository import Repository
from impact.testing.clones import git
from tests.helpers.git_server import GitServer

_REPOSITORY = Repository("octo", "engine")


def add_options(parser: argparse.ArgumentParser) -> None:
    days = Settings.model_fields["prdigest_mirror_days"].default
    parser.add_argument("--clone", type=Path, required=True, help="a clone, bare or not")
    parser.add_argument("--days", type=int, default=days, help=f"days of history, 0 for all (default: {days})")
    parser.add_argument("--name", default="def", help="what is searched for (default: def)")


def measure_mirror(table: Table, options: argparse.Namespace) -> None:
    """Print seconds and megabytes of the first mirror beside their bounds, and the seconds of a search."""
    head, seconds = git(options.clone, "log", "-1", "--format=%H %ct", "HEAD").split()
    now = datetime.fromtimestamp(int(seconds), UTC) + timedelta(hours=1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "served" / "octo").mkdir(parents=True)
        source = Path(git(options.clone, "rev-parse", "--absolute-git-dir"))
        (root / "served" / "octo" / "engine.git").symlink_to(source)
        with GitServer(root / "served", token="") as server:
            limits = MirrorLimits.of_days(options.days)
            mirror = GitMirror(root / "mirrors", server.url, lambda: "", lambda: now, limits)
            began = time.perf_counter()
            mirror.update(_REPOSITORY)
            table.print_row(f"first mirror of {options.days} days", time.perf_counter() - began, 120, "s")
        size = measure_size(MirrorFolder(root / "mirrors", _REPOSITORY).path)
        table.print_row("its size", size / 1e6, 300, "MB")
        began = time.perf_counter()
        hits = MirrorReader(root / "mirrors").find_uses(_REPOSITORY, head, options.name, 100)
        what = f"a search of its whole tree, {len(hits.uses)} lines"
        table.print_row(what, time.perf_counter() - began, 10, "s")
