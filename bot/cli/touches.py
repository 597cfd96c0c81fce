"""The commands about what merges change for others, and what that means for a team's own tree."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import IO

import click

from bot.cli.base import (
    CLONE,
    FILE,
    branch_option,
    check_writable,
    dates_options,
    format_example,
    get_current_time,
    json_option,
    make_branch_option,
    make_clone_option,
    open_command_app,
    out_option,
    show_progress_bar,
    write_text,
)
from bot.errors import UsageError
from bot.features.touches import terminal
from bot.features.touches.upgrade_view import render_upgrade
from bot.platform.git.reading import open_clone_trees
from bot.settings import load_settings
from impact.clones.clone_contracts import read_clone_contracts, read_clone_range
from impact.clones.evaluation import ReplayOptions, evaluate_touches
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import DownstreamTree, name_clone
from impact.clones.upstream_line import HEAD, select_line
from impact.clones.upstream_reader import UpstreamReader
from impact.clones.windows import parse_windows
from impact.contract.table import list_net_rows, list_rows, select_rows
from impact.documents import describe_evaluation, describe_plan, describe_rows, describe_suspects
from impact.evaluation.adaptations import parse_truth
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.git.working_tree import read_text
from impact.profile.models import Profile, parse_profile, parse_profile_name
from impact.python.syntax import pause_collector
from impact.repository import Repository
from impact.source.models import LineCommit
from impact.text.strings import quote_input
from impact.touches.breakage.explanations import Kinship
from impact.touches.breakage.suspects import RelevanceFilter, build_report
from impact.touches.breakage.traceback_names import MAX_TEXT, parse_trace

_AUTO, _WEEKS = "auto", "weeks"
_CHECKER = "Have a type checker judge beside the rules, where"
_checker_option = partial(click.option, "--checker/--no-checker", "has_checker", default=True, show_default=True)
_EVALUATE_EXAMPLE = (
    "prdigest touches evaluate --upstream ../vllm --downstream ../vllm-ascend --since 2025-10-01 "
    "--until 2026-01-31"
)


@click.command(
    "contract",
    short_help="Print what merges change for those who build on the code.",
    epilog=format_example("prdigest contract --clone ../vllm --since 2026-02-22 --until 2026-02-28"),
)
@dates_options
@click.option("--clone", metavar="PATH", type=CLONE, help="A local git clone. It is only read.")
@click.option("--repo", metavar="OWNER/NAME", help="Repository. Default: the one that its merges name.")
@branch_option
@click.option("--net", "is_net", is_flag=True, help="Print only what is different after all merges together.")
@json_option
def contract_command(
    since: str,
    until: str,
    clone: Path | None,
    repo: str | None,
    branch: str | None,
    *,
    is_net: bool,
    for_scripts: bool,
) -> None:
    """Print what the merges of some dates change for others, by class, what was removed first.

    Python names, signatures, variables, flags, configuration fields, endpoints, metrics, wire formats, ops, entry
    points and dependencies. Both versions of each changed file are compared; no model is asked.
    """
    dates = EvaluationWindow.parse(since, until)
    if clone is None:
        raise UsageError("No clone: pass --clone with the folder of a git clone of the repository.")
    web = load_settings().github_web_url
    repository = Repository.parse(repo, web) if repo else None
    with open_clone_trees(clone, branch) as trees, show_progress_bar("merge", "Merges") as show:
        contracts = read_clone_contracts(trees, dates, repository, show, find_kept_readings(os.environ))
    rows = select_rows(contracts, (list_net_rows if is_net else list_rows)(contracts, web))
    click.echo(
        terminal.format_json(describe_rows(rows))
        if for_scripts
        else terminal.format_contract_table(rows, len(contracts.merges))
    )


# --- suspects for an error


@click.command(
    "broke",
    short_help="Print which merge of a clone explains an error.",
    epilog=format_example("prdigest broke --upstream ../vllm --from 17c540a993 --to c9461e05a4"),
)
@make_clone_option("--upstream", " of the repository that you build on", "PATH")
@click.option("--from", "since", metavar="COMMIT", required=True, help="Last commit, or date (UTC), that worked.")
@click.option("--to", "until", metavar="COMMIT", default=HEAD, help="First one that fails. Default: the newest.")
@branch_option
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="Most suspects.")
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
    with open_clone_trees(upstream, branch) as trees:
        texts = [text for text in (profile_text, str(downstream or "")) if text]
        kinship = Kinship(_load_profiles(trees, select_line(trees, since, until), texts))
        with show_progress_bar("merge", "Merges") as show:
            merges = read_clone_range(trees, since, until, RelevanceFilter(names, kinship), show)
    report = build_report(names, merges, since, until, limit, kinship)
    click.echo(
        terminal.format_json(describe_suspects(report)) if for_scripts else terminal.format_suspects(report)
    )


def _load_profiles(trees: CloneTrees, line: Sequence[LineCommit], texts: Sequence[str]) -> Iterator[Profile]:
    """Yield profiles, linked to the upstream before what broke. Raises UsageError if there is none."""
    if not texts or not line:
        return
    last_good = line[0].parent or line[0].sha
    for text in texts:
        yield _load_profile(trees, last_good, text)


def _read_text(trace: IO[str]) -> str:
    """Return the text of an error. Raises UsageError if there is none."""
    if trace is sys.stdin and trace.isatty():
        click.echo("Paste the error, then press Ctrl-D.", err=True)
    text = trace.read(50 * MAX_TEXT)
    if not text.strip():
        raise UsageError("There is no error to look for: pass a file, or pipe one in.")
    return text


# --- the way to a later commit


@click.command(
    "upgrade",
    short_help="Plan the way from a pin to a later commit, as a checklist.",
    epilog=format_example("prdigest upgrade --upstream ../vllm --from 97f2f160fd --profile ../vllm-ascend"),
)
@click.option("--from", "start", metavar="PIN", required=True, help="The upstream commit or tag in use.")
@click.option("--to", "end", metavar="COMMIT", default=HEAD, help="The commit or tag to go to. Default: HEAD.")
@click.option(
    "--profile",
    "profile_text",
    metavar="NAME|FILE|CLONE",
    required=True,
    help="A profile of the bot, one in a file, or a clone of the code that builds on upstream.",
)
@make_clone_option("--upstream", " of the upstream repository")
@make_branch_option("--branch", " of the upstream clone")
@click.option(
    "--at", metavar="COMMIT", default="", help="Commit of the clone that is the profile. Default: its newest."
)
@click.option(
    "--package", "packages", metavar="NAME", multiple=True, help="Upstream package. Default: its own ones."
)
@click.option("--repo", metavar="OWNER/NAME", help="Upstream repository. Default: that of the clone's origin.")
@json_option
@_checker_option(help=f"{_CHECKER} --profile is a clone and it is installed.")
@out_option
def upgrade_command(
    start: str,
    end: str,
    profile_text: str,
    upstream: Path,
    *,
    branch: str | None,
    at: str,
    packages: tuple[str, ...],
    repo: str | None,
    has_checker: bool,
    out: Path | None,
    for_scripts: bool,
) -> None:
    """Plan the way from a pin to a later commit: what is different at its end, by file of ours.

    What was changed and changed back on the way is left out. The result is Markdown, which a canvas takes,
    or JSON.
    """
    check_writable(out)
    # what is kept here has no cycles, and to look for them takes a fifth of the time
    with open_clone_trees(upstream, branch) as trees, pause_collector():
        # before the merges, whose reading takes minutes
        profile = _load_profile(trees, UpstreamReader(trees).find_base(start), profile_text, at, packages)
        with show_progress_bar("merge", "Merges") as show:
            repository = Repository.parse(repo) if repo else None
            kept = find_kept_readings(os.environ)
            reader = UpstreamReader(trees, repository, show, kept)
            way = reader.read_range(start, end)
        path = Path(profile_text)
        with open_clone_trees(path) if path.is_dir() else nullcontext() as team:
            plan = reader.plan(way, profile, team, has_checker=has_checker)
    text = (
        f"{terminal.format_json(describe_plan(plan))}\n" if for_scripts else render_upgrade(plan, way.url, start)
    )
    if out:
        write_text(out, text)
    else:
        click.echo(text, nl=False)


def _load_profile(
    upstream: CloneTrees, base: str, text: str, at: str = "", packages: Sequence[str] = ()
) -> Profile:
    """Return the profile of a clone, of a file or of the store, linked to upstream at ``base``. Raises UsageError.

    ``packages`` are those whose uses a clone is scanned for. Without ``at``, its newest commit counts.
    """
    path = Path(text)
    with show_progress_bar("file", "Files") as show:
        reader = UpstreamReader(upstream, None, show, find_kept_readings(os.environ))
        if path.is_dir():
            with open_clone_trees(path) as trees:
                tree = DownstreamTree(trees, name_clone(trees, path), get_current_time(), at, packages)
                return reader.scan(tree, base)
        return reader.tree.link(_read_profile(path, text, at), base)


def _read_profile(path: Path, text: str, at: str) -> Profile:
    if at:
        raise UsageError("--at needs a clone as --profile: leave it out.")
    if path.is_file():
        return parse_profile(read_text(path))
    unknown = UsageError(f"There is no profile, file or clone {quote_input(text)}: name another one.")
    try:
        name = parse_profile_name(text)
    except UsageError as error:
        raise unknown from error
    with open_command_app() as app:
        profile = app.profiles.get_profile(name)
    if profile is None:
        raise unknown
    return profile


# --- a replay of the past


@click.group(
    "touches", help="Measure what merges mean for a team's own tree.", epilog=format_example(_EVALUATE_EXAMPLE)
)
def touches_group() -> None:
    pass


@touches_group.command(
    "evaluate",
    short_help="Replay the past of two clones and measure what was flagged.",
    epilog=format_example(f"{_EVALUATE_EXAMPLE} --out touches.csv"),
)
@make_clone_option("--upstream", " of the repository that merges come from")
@make_clone_option("--downstream", " of what is built on it")
@dates_options
@click.option(
    "--windows",
    metavar="auto|weeks|FILE",
    default=_AUTO,
    show_default=True,
    help=(
        "Which tree judges a merge: the last one before the downstream moved its pin past it (auto), or that at "
        "the begin of the week (weeks). Or a CSV of pins with adapting_commit, old_pin and new_pin."
    ),
)
@click.option(
    "--truth",
    metavar="FILE",
    type=FILE,
    help=(
        "A CSV of the merges that the downstream adapted to (upstream_pr and, if known, kind). Default: those "
        "that its later commit messages name."
    ),
)
@click.option("--name", help="Name of the downstream in the output. Default: its folder.")
@click.option(
    "--out", metavar="FILE", type=FILE, help="Write every merge, its level and what ranks it to this CSV file."
)
@click.option("--repo", metavar="OWNER/NAME", help="Upstream repository. Default: the one that its merges name.")
@make_branch_option("--upstream-branch", " of the upstream clone")
@make_branch_option("--downstream-branch", " of the downstream clone")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes to use.")
@_checker_option(help=f"{_CHECKER} it is installed.")
@json_option
def evaluate_command(
    upstream: Path,
    downstream: Path,
    since: str,
    until: str,
    windows: str,
    truth: Path | None,
    name: str | None,
    out: Path | None,
    *,
    repo: str | None,
    upstream_branch: str | None,
    downstream_branch: str | None,
    processes: int,
    has_checker: bool,
    for_scripts: bool,
) -> None:
    """Replay the past: judge each upstream merge by the downstream tree that met it, and measure the result.

    A merge counts as named if the downstream later said that it adapted to it. The figures stand beside those of
    three plain lists: by changed files that the downstream imports, by changed lines, and by chance. The verdict
    at the end says whether the rules are better than the first of them.
    """
    dates = EvaluationWindow.parse(since, until)
    check_writable(out)
    repository = Repository.parse(repo) if repo else None
    pins = () if windows in (_AUTO, _WEEKS) else tuple(parse_windows(read_text(Path(windows))))
    options = ReplayOptions(
        dates,
        name or downstream.resolve().name,
        pins,
        windows == _AUTO,
        parse_truth(read_text(truth)) if truth else None,
        processes,
        has_checker,
        find_kept_readings(os.environ),
        repository,
    )
    with (
        open_clone_trees(upstream, upstream_branch) as theirs,
        open_clone_trees(downstream, downstream_branch) as ours,
        show_progress_bar("merge", "Merges") as show,
    ):
        evaluation = evaluate_touches(theirs, ours, options, show)
    if out:
        write_text(out, terminal.format_touch_cases(evaluation))
    if for_scripts:
        # undefined values are null
        click.echo(terminal.format_json(describe_evaluation(evaluation)))
    else:
        click.echo(terminal.format_touch_table(evaluation))
