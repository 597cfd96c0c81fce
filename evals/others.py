"""``python -m evals others``: how early a warning comes that another downstream followed what touches one, too.

It comes where the merge touches the tree as it is then, unless this team had named it, or its pin was past it.
Whether it changed later is seen by its trees, linked to upstream before the merge: messages hardly say.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from statistics import median

import click

from bot.platform.git.reading import open_clone_trees
from bot.platform.store.due_queue import CHECK_INTERVAL
from impact.clones.clone_contracts import extract_contracts
from impact.clones.followers import FollowedMerge, read_following
from impact.clones.kept_readings import find_kept_readings
from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import scan_clone
from impact.clones.upstream_line import read_upstream, select_dates
from impact.clones.windows import mine_pins
from impact.contract.models import MergeContract
from impact.evaluation.imported_files import detect_packages
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.causes import FollowingCommit
from impact.profile.file_uses import is_test
from impact.profile.models import Profile
from impact.source.models import LineCommit
from impact.touches.judgement import judge_merge
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

_FOLDER = click.Path(path_type=Path, exists=True)
# of one team, some of which several merges need
_MAX_PROFILES = 16


@dataclass(frozen=True)
class Downstream:
    """A clone with its first commit for each merge that it names."""

    name: str
    trees: CloneTrees
    line: Sequence[LineCommit]
    following: Mapping[int, FollowingCommit]


@dataclass(frozen=True)
class TimedWarning:
    """A warning to one downstream about a merge, by the commit of another; ``answer`` is its own, if any.

    ``own_level`` and what follows it leave out tests: with ``change``, the merge began to touch its code less.
    ``is_pinned`` says whether a pin of it is known.
    """

    to: str
    number: int
    at: datetime
    by: FollowingCommit
    answer: FollowingCommit | None
    level: TouchLevel
    own_level: TouchLevel
    last_level: TouchLevel
    change: LineCommit | None
    is_pinned: bool
    is_passed: bool


@click.command("others")
@click.option("--upstream", required=True, type=_FOLDER, help="Clone of the upstream repository.")
@click.option("--downstream", "folders", required=True, multiple=True, type=_FOLDER, help="NAME of a clone.")
@click.option("--since", required=True, help="The first date of merges (UTC).")
@click.option("--until", required=True, help="The last date of merges, and of commits of downstreams (UTC).")
@click.option("--list", "is_listed", is_flag=True, help="List each pair and each warning.")
def others(upstream: Path, folders: tuple[Path, ...], since: str, until: str, *, is_listed: bool) -> None:
    """Replay the warnings that downstreams of one upstream would have had by each other."""
    dates = EvaluationWindow.parse(since, until)
    with ExitStack() as stack:
        trees = stack.enter_context(open_clone_trees(upstream))
        places = {each.sha: place for place, each in enumerate(trees.list_line())}
        line = read_upstream(trees, select_dates(trees.list_line(), dates), counts_lines=False)
        packages = detect_packages(trees.list_files(line.every[-1].commit.sha))
        upstreams = [*dict.fromkeys((*packages, *([line.repository.name] if line.title else [])))]
        merges = {each.number: FollowedMerge(each.commit.committed_at) for each in line.merges}
        downstreams = []
        for folder in folders:
            team = stack.enter_context(open_clone_trees(folder))
            following: dict[int, FollowingCommit] = {}
            for each in read_following(team, upstreams, merges, dates.start):
                if each.at.date() <= dates.until:
                    following.setdefault(each.number, each)
            name = folder.resolve().parent.name if folder.name == "repo" else folder.name
            own = [each for each in team.list_line() if each.committed_at.date() <= dates.until]
            click.echo(f"{name}: names {len(following)} of {len(merges)} merges as causes")
            downstreams.append(Downstream(name, team, own, following))
        named = {number for each in downstreams for number in each.following}
        causes = [each for each in line.merges if each.number in named]
        contracts = extract_contracts(trees, causes, _show, find_kept_readings(os.environ))
        steps = [(each, places[each.commit], cause.parent) for each, cause in zip(contracts, causes, strict=True)]
        pairs, tree, warnings = list(_list_pairs(downstreams)), UpstreamTree(trees), list[TimedWarning]()
        for warned in downstreams:
            rest = [each for each in downstreams if each is not warned]
            pins = _list_pins(warned.trees, trees, dates, upstreams, places)
            for warning in _list_warnings(warned, rest, pins, steps, tree, packages):
                warnings.append(warning)
                if is_listed:
                    click.echo(_format_warning(warning))
    if is_listed:
        for pair in pairs:
            click.echo(_format_pair(pair))
    _print_pairs(pairs)
    _print_warnings(warnings)


def _show(done: int, total: int) -> None:
    if done % 50 == 0:
        click.echo(f"{done} of {total} merges", err=True)


def _list_pins(
    team: CloneTrees,
    upstream: CloneTrees,
    dates: EvaluationWindow,
    upstreams: Sequence[str],
    places: Mapping[str, int],
) -> list[tuple[datetime, int]]:
    times = {each.sha: each.committed_at for each in team.list_line()}
    pins = mine_pins(upstream, team, dates, upstreams)
    first = [(datetime.min.replace(tzinfo=UTC), places[each.old]) for each in pins[:1] if each.old]
    moved = ((times[each.adapting], places[each.new]) for each in pins)
    return sorted([*first, *(each for each in moved if each[0].date() <= dates.until)])


def _find_pin(pins: Sequence[tuple[datetime, int]], at: datetime) -> int:
    """Return the place of what was pinned at a time on upstream's line; -1 if that is not known."""
    before = bisect_right(pins, at, key=lambda pin: pin[0])
    return pins[before - 1][1] if before else -1


def _list_pairs(
    downstreams: Sequence[Downstream],
) -> Iterator[tuple[int, tuple[str, FollowingCommit], tuple[str, FollowingCommit]]]:
    """Yield the merges that two or more followed, with the first of them and each later one."""
    by_merge: dict[int, list[tuple[str, FollowingCommit]]] = defaultdict(list)
    for each in downstreams:
        for number, commit in each.following.items():
            by_merge[number].append((each.name, commit))
    for number, commits in sorted(by_merge.items()):
        first, *later = sorted(commits, key=lambda each: each[1].at)
        yield from ((number, first, each) for each in later)


def _list_warnings(
    team: Downstream,
    rest: Sequence[Downstream],
    pins: Sequence[tuple[datetime, int]],
    steps: Iterable[tuple[MergeContract, int, str]],
    tree: UpstreamTree,
    packages: Sequence[str],
) -> Iterator[TimedWarning]:
    """Yield the warnings to a team by the rest. Each step is a merge, its place, and the commit before it."""
    kept = find_kept_readings(os.environ)

    @lru_cache(_MAX_PROFILES)
    def scan(commit: str) -> Profile:
        return scan_clone(team.trees, team.name, commit, packages, datetime.now(UTC), kept=kept)

    @lru_cache(_MAX_PROFILES)
    def link(commit: str, base: str, *, has_tests: bool) -> ProfileIndex:
        profile = scan(commit)
        if not has_tests:
            uses = tuple(each for each in profile.uses if not each.is_test)
            classes = {name: each for name, each in profile.classes.items() if not is_test(each.path)}
            profile = replace(profile, uses=uses, classes=classes)
        return ProfileIndex(tree.link(profile, base))

    # one commit names up to thirty merges, and the tree is linked to upstream before the first of them
    bases: dict[str, str] = {}
    for contract, place, parent in steps:
        commits = [each.following[contract.number] for each in rest if contract.number in each.following]
        if not commits:
            continue
        by, own = min(commits, key=lambda each: each.at), team.following.get(contract.number)
        base, at = bases.setdefault(by.commit, parent), by.at + CHECK_INTERVAL
        first, pin = bisect_right(team.line, at, key=lambda each: each.committed_at) - 1, _find_pin(pins, at)
        if first < 0 or pin >= place or (own and own.at <= at):
            continue

        def judge(commit: LineCommit, contract: MergeContract = contract, base: str = base) -> TouchLevel:
            return judge_merge(contract, link(commit.sha, base, has_tests=False)).level

        level = judge_merge(contract, link(team.line[first].sha, base, has_tests=True)).level
        if level == TouchLevel.NO:
            continue
        own_level, last_level, change = judge(team.line[first]), judge(team.line[-1]), None
        if last_level < own_level:
            # levels go down along the line
            change = team.line[bisect_right(team.line, -own_level, first, key=lambda each: -judge(each))]
        end = _find_pin(pins, datetime.max.replace(tzinfo=UTC))
        yield TimedWarning(
            team.name, contract.number, at, by, own, level, own_level, last_level, change, end >= 0, end >= place
        )


def _print_pairs(pairs: Sequence[tuple[int, tuple[str, FollowingCommit], tuple[str, FollowingCommit]]]) -> None:
    spans = [later[1].at - first[1].at - CHECK_INTERVAL for _, first, later in pairs]
    causes = len({number for number, _, _ in pairs})
    click.echo(
        f"named by two or more: {causes} causes, {len(pairs)} later ones; before the later one: {_describe(spans)}"
    )


def _print_warnings(warnings: Sequence[TimedWarning]) -> None:
    for level in (TouchLevel.TOUCHES, TouchLevel.MAY_BREAK, TouchLevel.BREAKS):
        every = [each for each in warnings if each.level >= level]
        some = [each for each in every if each.own_level >= level]
        named = [each.answer.at - each.at for each in some if each.answer]
        changed = [each.change.committed_at - each.at for each in some if each.change]
        rest = [each.is_passed for each in some if not each.answer and not each.change]
        click.echo(
            f"warnings of level {level.name} and above: {len(every)}, for tests alone: {len(every) - len(some)}; "
            f"of the others, with a known pin: {sum(each.is_pinned for each in some)}; named later: "
            f"{_describe(named)}; touched less later: {_describe(changed)}; neither, and passed: {sum(rest)}, "
            f"or open at the end: {len(rest) - sum(rest)}"
        )


def _describe(spans: Iterable[timedelta]) -> str:
    days = [each / timedelta(days=1) for each in spans]
    return (
        f"{sum(each > 0 for each in days)} of {len(days)} early, median {median(days):.1f} days"
        if days
        else "none"
    )


def _format_pair(pair: tuple[int, tuple[str, FollowingCommit], tuple[str, FollowingCommit]]) -> str:
    number, *sides = pair
    return f"pair #{number}: " + " | ".join(
        f"{name} {each.at:%Y-%m-%d} {each.commit[:10]} {each.title[:60]}" for name, each in sides
    )


def _format_warning(each: TimedWarning) -> str:
    answer = f"{each.answer.at:%Y-%m-%d} {each.answer.commit[:10]}" if each.answer else "none"
    change = f"{each.change.committed_at:%Y-%m-%d} {each.change.sha[:10]}" if each.change else "none"
    pin = "passed" if each.is_passed else "not past" if each.is_pinned else "no pin"
    return (
        f"warning {each.to} #{each.number} {each.level.name} {each.at:%Y-%m-%d} by {each.by.commit[:10]} "
        f"{each.by.response} {each.by.title[:60]} | named {answer} | without tests "
        f"{each.own_level.name}, changed {change}, last tree {each.last_level.name} | {pin}"
    )
