"""The commands about what merges mean for a team's own tree."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.base import check_writable, show_progress_bar, write_text
from bot.cli.clone_options import (
    dates_options,
    json_option,
    make_branch_option,
    make_clone_option,
    parse_dates,
)
from bot.cli.grouped_help import format_example
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.platform.git.clones import open_clone_trees
from bot.render.touches import evaluation as render
from impact.clones.evaluation import ReplayClones, ReplayOptions, evaluate_touches
from impact.clones.windows import PinChange, parse_windows
from impact.evaluation.adaptations import parse_truth

_AUTO = "auto"
# bytes of a list of windows or of truth
_MAX_LIST = 20_000_000


@click.group(
    "touches",
    help="Measure what merges mean for a team's own tree.",
    epilog=format_example(
        "prdigest touches evaluate --upstream ../vllm --downstream ../vllm-ascend --since 2025-10-01 "
        "--until 2026-01-31"
    ),
)
def touches_group() -> None:
    """Group the commands about touches."""


@touches_group.command(
    "evaluate",
    short_help="Replay the past of two clones and measure what was flagged.",
    epilog=format_example(
        "prdigest touches evaluate --upstream ../vllm --downstream ../vllm-ascend --since 2025-10-01 "
        "--until 2026-01-31 --out touches.csv"
    ),
)
@make_clone_option("--upstream", " of the repository that merges come from")
@make_clone_option("--downstream", " of what is built on it")
@dates_options
@click.option(
    "--windows",
    metavar="FILE|auto",
    help=(
        "Judge by the downstream's pins instead of weeks: a CSV with adapting_commit, old_pin and new_pin, or "
        "auto for those in its history."
    ),
)
@click.option(
    "--truth",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help=(
        "A CSV of the merges that the downstream adapted to (upstream_pr and, if known, kind). Default: those "
        "that its later commit messages name."
    ),
)
@click.option("--name", help="Name of the downstream in the output. Default: its folder.")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write every merge to this CSV file (pr,level,score,change,use).",
)
@click.option("--repo", metavar="OWNER/NAME", help="Upstream repository. Default: the one that its merges name.")
@make_branch_option("--upstream-branch", " of the upstream clone")
@make_branch_option("--downstream-branch", " of the downstream clone")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes to use.")
@json_option
def evaluate_command(
    upstream: Path,
    downstream: Path,
    since: str,
    until: str,
    windows: str | None,
    truth: Path | None,
    name: str | None,
    out: Path | None,
    *,
    repo: str | None,
    upstream_branch: str | None,
    downstream_branch: str | None,
    processes: int,
    for_scripts: bool,
) -> None:
    """Replay the past: judge each upstream merge by the downstream tree of its week, and measure the result.

    A merge counts as named if the downstream later said that it adapted to it. The figures stand beside those of
    three plain lists: by changed files that the downstream imports, by changed lines, and by chance. The verdict
    at the end says whether the rules are better than the first of them.
    """
    dates = parse_dates(since, until)
    check_writable(out)
    clones = ReplayClones(
        upstream,
        downstream,
        open_clone_trees,
        upstream_branch,
        downstream_branch,
        Repository.parse(repo) if repo else None,
    )
    options = ReplayOptions(
        dates,
        name or downstream.resolve().name,
        _read_pins(windows),
        windows == _AUTO,
        parse_truth(read_list(truth)) if truth else None,
        processes,
    )
    with show_progress_bar("merge", "Merges") as show:
        evaluation = evaluate_touches(clones, options, show)
    if out:
        write_text(out, render.format_touch_cases(evaluation))
    click.echo(render.format_touch_json(evaluation) if for_scripts else render.format_touch_table(evaluation))


def _read_pins(windows: str | None) -> tuple[PinChange, ...]:
    if windows is None or windows == _AUTO:
        return ()
    return tuple(parse_windows(read_list(Path(windows))))


def read_list(path: Path) -> str:
    """Return the text of a file that somebody names. Raises UsageError if it can't be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_LIST + 1)
    except OSError as error:
        raise UsageError(f"{path} can't be read ({error.strerror}): choose another file.") from error
    if len(data) > _MAX_LIST:
        raise UsageError(f"{path} is too large: choose another file.")
    return data.decode("utf-8-sig", "replace")
