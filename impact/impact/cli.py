"""The command line: each command reads local clones and prints JSON. README.md has the shapes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from impact import documents
from impact.clones.clone_contracts import read_clone_contracts, read_clone_range
from impact.clones.evaluation import ReplayOptions, evaluate_touches
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import (
    DownstreamTree,
    explain_uses,
    ignore_progress,
    name_clone,
    scan_tree,
    select_uses,
)
from impact.clones.upstream_line import HEAD, select_dates, select_line
from impact.clones.upstream_reader import JudgedRange, UpstreamReader
from impact.clones.windows import parse_windows
from impact.contract.table import list_net_rows, list_rows, select_rows
from impact.errors import ImpactError, UsageError
from impact.evaluation.adaptations import parse_truth
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees, open_clone_trees
from impact.git.working_tree import read_text, read_working_tree
from impact.profile.manual import parse_manual
from impact.profile.models import Profile, Use, UseKind, dump_profile, parse_profile
from impact.repository import Repository
from impact.text.strings import escape_invisible
from impact.touches.breakage.explanations import Kinship
from impact.touches.breakage.suspects import RelevanceFilter, build_report
from impact.touches.breakage.traceback_names import parse_trace
from impact.touches.models import JudgedCommit, TouchLevel

F = TypeVar("F", bound=Callable[..., Any])

# characters of an error that are read
_MAX_TRACE = 10_000_000
_AUTO, _WEEKS = "auto", "weeks"
_NEVER, _SHAPES = "never", ("text", "json", "github")
# the status that says that something was found: an error ends with 1, a mistake in the options with 2
_FOUND = 3
_LEVELS = {level.label: level for level in reversed(TouchLevel) if level > TouchLevel.NO}
_KINDS = tuple(kind.name.lower() for kind in UseKind)
_FOLDER = click.Path(path_type=Path)


class _Commands(click.Group):
    """Commands whose errors end in their sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. Raises ClickException for an ImpactError."""
        try:
            return super().invoke(ctx)
        except ImpactError as error:
            raise click.ClickException(str(error)) from error


@click.group("impact", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="prdigest-impact")
def main() -> None:
    """Say what merges of a Python repository change for those who build on it. Clones are only read."""


def _add_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_upstream = click.option("--upstream", metavar="CLONE", type=_FOLDER, required=True, help="A clone of upstream.")
_branch = click.option("--branch", metavar="NAME", help="Branch of upstream. Default: the default one.")
_repo = click.option(
    "--repo",
    "repository",
    metavar="OWNER/NAME",
    callback=lambda _context, _option, text: Repository.parse(text) if text else None,
    help="Upstream's repository. Default: what its merges name.",
)
_packages = click.option(
    "--package", "packages", metavar="NAME", multiple=True, help="A package of upstream. Default: its own ones."
)
_base = click.option(
    "--from", "base", metavar="PIN", default="", help="The upstream commit in use. Default: what is known of it."
)
_dates = _add_options(
    click.option("--since", metavar="YYYY-MM-DD", required=True, help="First date (UTC) of merges."),
    click.option("--until", metavar="YYYY-MM-DD", required=True, help="Last date (UTC) of merges."),
)
_profile = _add_options(
    click.option(
        "--profile", "profile_file", metavar="FILE", type=_FOLDER, help="A profile that impact scan printed."
    ),
    click.option(
        "--downstream", metavar="CLONE", type=_FOLDER, help="A clone of what builds on upstream, in place of one."
    ),
    click.option("--at", metavar="COMMIT", default="", help="Commit of the downstream. Default: its newest."),
    _packages,
)
_checker = click.option(
    "--checker/--no-checker",
    "has_checker",
    default=True,
    show_default=True,
    help="Have a type checker judge beside the rules, where --downstream is a clone and it is installed.",
)


@main.command("contract")
@click.option("--clone", metavar="CLONE", type=_FOLDER, required=True, help="A clone of the repository.")
@_dates
@_repo
@_branch
@click.option("--net", "is_net", is_flag=True, help="Only what is different after all merges together.")
def print_contract(
    clone: Path, since: str, until: str, repository: Repository | None, branch: str | None, *, is_net: bool
) -> None:
    dates, kept = EvaluationWindow.parse(since, until), find_kept_readings(os.environ)
    with open_clone_trees(clone, branch) as trees:
        contracts = read_clone_contracts(trees, dates, repository, ignore_progress, kept)
    rows = list_net_rows(contracts) if is_net else list_rows(contracts)
    _print(documents.describe_rows(select_rows(contracts, rows)))


@main.command("scan")
@click.argument("path", type=_FOLDER)
@click.option("--name", help="Name of the profile. Default: the folder's.")
@click.option("--upstream", metavar="CLONE", type=_FOLDER, help="A clone of upstream, to link what is used.")
@click.option("--package", "packages", metavar="NAME", multiple=True, help="A package of upstream.")
@click.option("--manual", metavar="FILE", type=_FOLDER, help="A YAML file of what to add by hand and to ignore.")
def print_scan(
    path: Path, name: str | None, upstream: Path | None, packages: tuple[str, ...], manual: Path | None
) -> None:
    """Print the profile of a folder: all that it uses of an upstream repository.

    Files are read as they are on disk, and none of them is run. Without --package, it is those of --upstream. Uses
    are linked to the commit of --upstream that the folder pins; what its newest one lacks is on the error output.
    """
    with ExitStack() as stack:
        trees = stack.enter_context(open_clone_trees(upstream)) if upstream else None
        chosen = packages or (UpstreamReader(trees).detect_packages(HEAD) if trees else ())
        if not chosen:
            raise UsageError("No package of upstream: pass --package or --upstream.")
        rules = parse_manual(read_text(manual)) if manual else None
        files, kept = read_working_tree(path), find_kept_readings(os.environ)
        scan = scan_tree(path, name, chosen, files, datetime.now(UTC), upstream=trees, manual=rules, kept=kept)
    click.echo(dump_profile(scan.profile))
    if scan.link:
        click.echo(scan.link, err=True)
    for use in scan.gone:
        click.echo(f"upstream no longer has {use.name}: {use.path}:{use.line}", err=True)


@main.command("touches")
@_upstream
@_profile
@click.option("--since", metavar="YYYY-MM-DD", default="", help="First date (UTC) of merges, in place of COMMITS.")
@click.option("--until", metavar="YYYY-MM-DD", default="", help="Last date (UTC) of merges.")
@_base
@_repo
@_branch
@_checker
@click.argument("commits", nargs=-1)
def print_touches(since: str, until: str, base: str, commits: tuple[str, ...], **options: Any) -> None:
    """Print what each of some commits of upstream does to a profile, and where: also of those that do nothing.

    COMMITS are hashes, or a range BASE..TARGET without BASE.
    """
    if bool(since and until) == bool(commits):
        raise UsageError("Pass either commits or --since and --until.")
    with _open_sides(**options) as sides:
        reader, dates = sides.reader, None if commits else EvaluationWindow.parse(since, until)
        line = select_dates(reader.trees.list_line(), dates) if dates else reader.select_commits(commits)
        judged = reader.judge(line, sides.load, base, sides.team)
        reasons = sides.explain(judged.profile.commit, judged.uses)
    _print(documents.describe_commits(judged.commits, judged.profile, judged.base, reasons, judged.judges))


@main.command("check")
@_upstream
@click.option(
    "--base", metavar="COMMIT", required=True, help="The commit before, such as that of the main branch."
)
@click.option("--head", metavar="COMMIT", default="HEAD", show_default=True, help="The commit after.")
@_profile
@_repo
@_branch
@_checker
@click.option(
    "--fail-on",
    type=click.Choice([*_LEVELS, _NEVER]),
    default="breaks",
    show_default=True,
    help=f"End with status {_FOUND} from this level on.",
)
@click.option("--format", "shape", type=click.Choice(_SHAPES), default="text", show_default=True)
def check_change(base: str, head: str, fail_on: str, shape: str, **options: Any) -> None:
    """Say what the whole difference between two commits of upstream does to a profile, for CI.

    The commits need not be on one line, so a pull request is checked before it is merged. With the format github,
    each finding annotates a line in GitHub Actions: the profile's with --downstream, else the changed one.
    """
    is_ours = options["downstream"] is not None
    with _open_sides(**options) as sides:
        judged = sides.reader.judge([sides.reader.read_difference(base, head)], sides.load, "", sides.team)
    if shape == "json":
        _print(documents.describe_commits(judged.commits, judged.profile, judged.base, judges=judged.judges))
    else:
        for line in _list_findings(judged, is_ours=is_ours, is_annotated=shape == "github"):
            click.echo(escape_invisible(line))
    level = max((each.touches.level for each in judged.commits.ignore_coverage()), default=TouchLevel.NO)
    if fail_on != _NEVER and level >= _LEVELS[fail_on]:
        raise SystemExit(_FOUND)


def _list_findings(judged: JudgedRange, *, is_ours: bool, is_annotated: bool) -> Iterator[str]:
    """Yield a line for each finding, the most certain first; what was not read comes before all."""

    def show(commits: Sequence[JudgedCommit]) -> Iterator[str]:
        for touch in (touch for each in commits for touch in each.touches.touches):
            told = f"{touch.tell(touch.use)}{f' {touch.action}.' if touch.action else ''}"
            use, change = touch.use, touch.change
            path, line = (use.path, use.line) if is_ours else (change.path, change.line)
            word = "error" if touch.level is TouchLevel.BREAKS else "warning"
            yield _annotate(word, told, path, line) if is_annotated else f"{change.path}:{change.line}: {told}"

    def write(sentence: str) -> str:
        return _annotate("warning", sentence) if is_annotated else sentence

    yield from judged.commits.derive(lambda commits: (each for each in commits if each.touches.touches)).render(
        write, show, f"Nothing of it touches {judged.profile.name}."
    )
    if judged.judges:
        yield write(judged.judges) if not is_annotated else judged.judges


def _annotate(word: str, text: str, path: str = "", line: int = 0) -> str:
    """Return a workflow command (docs.github.com, "Workflow commands"); nothing of a text begins another one."""
    place = f" file={_escape_command(path, ',:')},line={max(line, 1)}" if path else ""
    return f"::{word}{place}::{_escape_command(text)}"


def _escape_command(text: str, more: str = "") -> str:
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{more}" else sign for sign in text)


@main.command("guide")
@_upstream
@_profile
@_base
@_repo
@_branch
@_checker
@click.argument("commit")
def print_guide(commit: str, base: str, **options: Any) -> None:
    """Print what it takes to adapt a profile's tree to one commit of upstream.

    What changed, the lines that use it, how upstream changed its own callers, what its description says on that,
    and tests on both sides.
    """
    with _open_sides(**options) as sides:
        judged = sides.reader.judge(sides.reader.select_commits([commit]), sides.load, base, sides.team)
        reasons = sides.explain(judged.profile.commit, judged.uses)
    _print(documents.describe_guides(judged.commits, judged.profile, judged.messages, reasons))


@main.command("uses")
@_upstream
@_profile
@click.option(
    "--kind", "kinds", metavar="KIND", type=click.Choice(_KINDS), multiple=True, help="patch, override, …"
)
@click.option("--name", default="", help="A name of upstream, or a path of the tree. Default: all.")
@click.option(
    "--from", "base", default="", help="The upstream commit in use. Default: what the tree pins, or HEAD."
)
@_repo
@_branch
def print_uses(kinds: tuple[str, ...], name: str, base: str, **options: Any) -> None:
    """Print the lines of a tree that use upstream, by kind, and why they stand there if the tree says so."""
    with _open_sides(**options) as sides:
        profile = sides.load(sides.reader.find_base(base))
        uses = select_uses(profile, (UseKind[kind.upper()] for kind in kinds), name)
        _print(documents.describe_uses(uses, profile, sides.explain(profile.commit, uses.ignore_coverage())))


@main.command("broke")
@_upstream
@click.option("--from", "since", metavar="COMMIT", required=True, help="Last commit, or date (UTC), that worked.")
@click.option("--to", "until", metavar="COMMIT", default=HEAD, help="First one that fails. Default: the newest.")
@_profile
@_branch
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="Most suspects.")
@click.argument("trace", type=click.File(encoding="utf-8", errors="replace"), default="-")
def print_suspects(
    upstream: Path, since: str, until: str, branch: str | None, limit: int, trace: IO[str], **options: Any
) -> None:
    """Print which merge between two commits explains an error.

    TRACE is a file with a traceback, the output of pytest or one line. Default: standard input.
    """
    text = trace.read(_MAX_TRACE)
    if not text.strip():
        raise UsageError("There is no error to look for: pass a file, or pipe one in.")
    names = parse_trace(text)
    with _open_sides(upstream, branch, None, **options) as sides:
        trees, has_profile = sides.reader.trees, sides.tree or sides.profile_file
        line = select_line(trees, since, until)
        kinship = Kinship([sides.load(line[0].parent or line[0].sha)] if line and has_profile else [])
        merges = read_clone_range(trees, since, until, RelevanceFilter(names, kinship), ignore_progress)
    _print(documents.describe_suspects(build_report(names, merges, since, until, limit, kinship)))


@main.command("upgrade")
@_upstream
@click.option("--from", "start", metavar="PIN", required=True, help="The upstream commit or tag in use.")
@click.option("--to", "end", metavar="COMMIT", default=HEAD, help="The commit or tag to go to. Default: HEAD.")
@_profile
@_repo
@_branch
@_checker
def print_upgrade(start: str, end: str, *, has_checker: bool, **options: Any) -> None:
    """Print what the way from a pin to a later commit takes, by file of the profile."""
    with _open_sides(has_checker=has_checker, **options) as sides:
        # before the merges, whose reading takes minutes
        profile = sides.load(sides.reader.find_base(start))
        way = sides.reader.read_range(start, end)
        plan = sides.reader.plan(way, profile, sides.team, has_checker=has_checker)
    _print(documents.describe_plan(plan))


@main.command("evaluate")
@_upstream
@click.option("--downstream", metavar="CLONE", type=_FOLDER, required=True, help="A clone of what builds on it.")
@_dates
@click.option(
    "--windows",
    metavar="auto|weeks|FILE",
    default=_AUTO,
    help="By the downstream's pins, by weeks, or a CSV of pins.",
)
@click.option("--truth", metavar="FILE", type=_FOLDER, help="A CSV of the merges that the downstream adapted to.")
@click.option("--name", help="Name of the downstream. Default: its folder.")
@_repo
@click.option("--upstream-branch", metavar="NAME", help="Branch of upstream. Default: the default one.")
@click.option("--downstream-branch", metavar="NAME", help="Branch of the downstream. Default: the default one.")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes to use.")
@_checker
def print_evaluation(
    upstream: Path,
    downstream: Path,
    since: str,
    until: str,
    windows: str,
    truth: Path | None,
    name: str | None,
    processes: int,
    repository: Repository | None,
    upstream_branch: str | None,
    downstream_branch: str | None,
    *,
    has_checker: bool,
) -> None:
    """Replay the past of two clones, and print how well touches said what the downstream adapted to."""
    options = ReplayOptions(
        EvaluationWindow.parse(since, until),
        name or downstream.resolve().name,
        () if windows in (_AUTO, _WEEKS) else tuple(parse_windows(read_text(Path(windows)))),
        windows == _AUTO,
        parse_truth(read_text(truth)) if truth else None,
        processes,
        has_checker,
        find_kept_readings(os.environ),
        repository,
    )
    with (
        open_clone_trees(upstream, upstream_branch) as ours,
        open_clone_trees(downstream, downstream_branch) as team,
    ):
        _print(documents.describe_evaluation(evaluate_touches(ours, team, options, ignore_progress)))


@dataclass(frozen=True, slots=True)
class _Sides:
    """Upstream, and what is judged: the profile of a file, or the tree of a clone."""

    reader: UpstreamReader
    tree: DownstreamTree | None = None
    profile_file: Path | None = None
    at: str = ""
    team: CloneTrees | None = None

    def load(self, base: str) -> Profile:
        """Return the profile linked to a commit of upstream, or else to what it pins. Raises UsageError."""
        if self.tree and not self.profile_file:
            return self.reader.scan(self.tree, base)
        if self.tree or not self.profile_file:
            raise UsageError("Pass either --profile with a file or --downstream with a clone.")
        if self.at:
            raise UsageError("--at needs --downstream: leave it out.")
        profile = parse_profile(read_text(self.profile_file))
        return self.reader.tree.link(profile, base) if base else profile

    def explain(self, commit: str, uses: Iterable[Use]) -> dict[Use, str]:
        """Return why uses stand there, as the tree says it: of a file, it is not here."""
        return explain_uses(self.tree.trees, commit, uses) if self.tree else {}


@contextmanager
def _open_sides(
    upstream: Path,
    branch: str | None,
    repository: Repository | None,
    profile_file: Path | None,
    downstream: Path | None,
    at: str,
    packages: tuple[str, ...],
    *,
    has_checker: bool = False,
) -> Iterator[_Sides]:
    with ExitStack() as stack:
        trees = stack.enter_context(open_clone_trees(upstream, branch))
        reader = UpstreamReader(trees, repository, kept=find_kept_readings(os.environ))
        if not downstream:
            yield _Sides(reader, None, profile_file, at)
            return
        ours = stack.enter_context(open_clone_trees(downstream))
        tree = DownstreamTree(ours, name_clone(ours, downstream), datetime.now(UTC), at, packages)
        yield _Sides(reader, tree, profile_file, at, ours if has_checker else None)


def _print(document: object) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2, default=str, allow_nan=False)
    sys.stdout.write(f"{escape_invisible(text)}\n")
