"""``prdigest broke``: which merge between two commits of a clone explains an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import click

from bot.cli.base import show_progress_bar
from bot.cli.clone_options import branch_option, json_option, make_clone_option
from bot.cli.grouped_help import format_example
from bot.cli.touches.profile_option import load_profile
from bot.domain.errors import UsageError
from bot.platform.git.clones import open_clone_trees
from bot.render.touches.suspects import format_suspects, format_suspects_json
from impact.clones.clone_range import HEAD, read_clone_range, select_line
from impact.clones.clone_upgrade import CloneUpgradeReader
from impact.git.clone_trees import CloneTrees
from impact.profile.models import Profile
from impact.source.trees import LineCommit
from impact.touches.breakage.kinship import Kinship
from impact.touches.breakage.relevance import RelevanceFilter
from impact.touches.breakage.suspects import build_report
from impact.touches.breakage.traceback_names import MAX_TEXT, parse_trace

DEFAULT_LIMIT = 5


@click.command(
    "broke",
    short_help="Print which merge of a clone explains an error.",
    epilog=format_example("prdigest broke --upstream ../vllm --from 17c540a993 --to c9461e05a4"),
)
@make_clone_option("--upstream", " of the repository that you build on", "PATH")
@click.option("--from", "since", metavar="COMMIT", required=True, help="Last commit, or date (UTC), that worked.")
@click.option("--to", "until", metavar="COMMIT", default=HEAD, help="First one that fails. Default: the newest.")
@branch_option
@click.option(
    "--limit", type=click.IntRange(1, 50), default=DEFAULT_LIMIT, show_default=True, help="Most suspects."
)
@click.option(
    "--profile",
    "profile_text",
    metavar="NAME|FILE",
    default="",
    help="A profile of the bot, or one in a file: it says what your classes derive from.",
)
@click.option(
    "--downstream",
    metavar="CLONE",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A local git clone of your code, which is scanned for the same. It is only read.",
)
@json_option
@click.argument("trace", type=click.File(encoding="utf-8", errors="replace"), default="-")
def broke_command(
    upstream: Path,
    since: str,
    until: str,
    branch: str | None,
    limit: int,
    profile_text: str,
    downstream: Path | None,
    trace: IO[str],
    *,
    for_scripts: bool,
) -> None:
    """Print which merge between two commits of a clone explains an error.

    TRACE is a file with the error: a traceback, the output of pytest, or one line. Default: standard input. The
    suspects come with the line that each rests on. Nothing is asked of a model, and nothing leaves this machine.
    """
    names = parse_trace(_read_text(trace))
    with open_clone_trees(upstream, branch) as trees, show_progress_bar("merge", "Merges") as show:
        texts = [profile_text, str(downstream or "")]
        kinship = Kinship(_load_profiles(trees, select_line(trees, since, until), list(filter(None, texts))))
        relevance = RelevanceFilter(names, kinship)
        merges = read_clone_range(trees, since, until, relevance, show)
    report = build_report(names, merges, since, until, limit, kinship)
    click.echo(format_suspects_json(report) if for_scripts else format_suspects(report))


def _load_profiles(trees: CloneTrees, line: Sequence[LineCommit], texts: Sequence[str]) -> Iterator[Profile]:
    """Yield profiles, linked to the upstream before what broke. Raises UsageError if there is none."""
    if not texts or not line:
        return
    reader = CloneUpgradeReader(trees)
    last_good = line[0].parent or line[0].sha
    packages = reader.detect_packages(last_good)
    for text in texts:
        yield reader.link_profile(load_profile(text, "", packages), last_good)


def _read_text(trace: IO[str]) -> str:
    """Return the text of an error. Raises UsageError if there is none."""
    if trace is sys.stdin and trace.isatty():
        click.echo("Paste the error, then press Ctrl-D.", err=True)
    text = trace.read(50 * MAX_TEXT)
    if not text.strip():
        raise UsageError("There is no error to look for: pass a file, or pipe one in.")
    return text
