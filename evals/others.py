"""``python -m evals others``: how early a warning comes that another downstream followed what touches one, too.

Each downstream is judged by its tree of the week, as a profile is, about the merges that commits of any name.
A warning comes where another one had named the merge, unless this one had, or its pin was past it. Whether it
changed for that later is seen by its last tree: messages hardly say.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from statistics import median

import click

from bot.platform.git.reading import open_clone_trees
from bot.platform.store.due_queue import CHECK_INTERVAL
from impact.clones.clone_contracts import extract_contracts
from impact.clones.followers import FollowedMerge, read_following
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import DownstreamTree
from impact.clones.upstream_line import read_upstream, select_dates
from impact.clones.upstream_reader import UpstreamReader
from impact.clones.windows import find_before, list_weekly_windows, mine_pins
from impact.contract.models import MergeContract
from impact.errors import UsageError
from impact.evaluation.imported_files import detect_packages
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.history.causes import FollowingCommit
from impact.touches.judgement import judge_merge
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

_FOLDER = click.Path(path_type=Path, exists=True)


@dataclass(frozen=True)
class Hit:
    """What a merge does to the tree of its week, and to the last one."""

    level: TouchLevel
    last_level: TouchLevel


@dataclass(frozen=True)
class Downstream:
    """What one downstream did: its first commit for each merge that it names, its hits, and its pins by time."""

    name: str
    following: Mapping[int, FollowingCommit]
    hits: Mapping[int, Hit]
    pins: Sequence[tuple[datetime, int]]

    def find_pin(self, at: datetime) -> int:
        """Return the place of what was pinned at a time on upstream's line; -1 if that is not known."""
        before = bisect_right(self.pins, at, key=lambda pin: pin[0])
        return self.pins[before - 1][1] if before else -1


@dataclass(frozen=True)
class TimedWarning:
    """A warning to one downstream about a merge, by the commit of another; ``answer`` is its own, if any."""

    to: str
    number: int
    hit: Hit
    at: datetime
    by: FollowingCommit
    answer: FollowingCommit | None
    is_passed: bool

    @property
    def has_changed(self) -> bool:
        """Whether it changed so that its last tree is touched less, or names the merge."""
        return self.answer is not None or self.hit.last_level < self.hit.level


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
        teams = {}
        for folder in folders:
            team = stack.enter_context(open_clone_trees(folder))
            following: dict[int, FollowingCommit] = {}
            for each in read_following(team, upstreams, merges, dates.start):
                if each.at.date() <= dates.until:
                    following.setdefault(each.number, each)
            name = folder.resolve().parent.name if folder.name == "repo" else folder.name
            click.echo(f"{name}: names {len(following)} of {len(merges)} merges as causes")
            teams[name] = team, following
        named = {number for _, following in teams.values() for number in following}
        causes = [each for each in line.merges if each.number in named]
        contracts = {
            each.commit: each for each in extract_contracts(trees, causes, _show, find_kept_readings(os.environ))
        }
        order = {each.number: places[each.commit] for each in contracts.values()}
        downstreams = [
            Downstream(
                name,
                following,
                dict(_judge(name, team, trees, dates, contracts)),
                _list_pins(team, trees, dates, upstreams, places),
            )
            for name, (team, following) in teams.items()
        ]
    pairs = list(_list_pairs(downstreams))
    warnings = list(_list_warnings(downstreams, order))
    _print_pairs(pairs)
    _print_warnings(warnings)
    if is_listed:
        for row in (*map(_format_pair, pairs), *map(_format_warning, warnings)):
            click.echo(row)


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
    return sorted(
        (times[pin.adapting], places[pin.new])
        for pin in mine_pins(upstream, team, dates, upstreams)
        if pin.adapting in times and times[pin.adapting].date() <= dates.until
    )


def _judge(
    name: str,
    team: CloneTrees,
    upstream: CloneTrees,
    dates: EvaluationWindow,
    contracts: Mapping[str, MergeContract],
) -> Iterator[tuple[int, Hit]]:
    """Yield the numbers of the merges that touch a downstream by its tree of the week, by commits of upstream."""
    reader = UpstreamReader(upstream, kept=find_kept_readings(os.environ))
    start = next((each.committed_at for each in team.list_line()), dates.start)
    first = max(dates.since, start.date() + timedelta(days=1))
    last = find_before(team.list_line(), datetime.combine(dates.until + timedelta(days=1), time(), UTC))
    if first > dates.until or last is None:
        return
    for window in list_weekly_windows(upstream, team, EvaluationWindow(first, dates.until)):
        judged = [contracts[sha] for sha in window.merges if sha in contracts]
        if not judged:
            continue
        try:
            index, later = (
                ProfileIndex(reader.scan(DownstreamTree(team, name, datetime.now(UTC), commit), window.upstream))
                for commit in (window.downstream, last.sha)
            )
        except UsageError as error:
            click.echo(f"{name}, {window.title}: {error}", err=True)
            continue
        for contract in judged:
            if (level := judge_merge(contract, index).level) > TouchLevel.NO:
                yield contract.number, Hit(level, judge_merge(contract, later).level)


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


def _list_warnings(downstreams: Sequence[Downstream], order: Mapping[int, int]) -> Iterator[TimedWarning]:
    for team in downstreams:
        for number, hit in sorted(team.hits.items()):
            commits = [
                each.following[number] for each in downstreams if each is not team and number in each.following
            ]
            if not commits:
                continue
            by = min(commits, key=lambda each: each.at)
            at, own = by.at + CHECK_INTERVAL, team.following.get(number)
            if team.find_pin(at) < order[number] and (own is None or own.at > at):
                is_passed = team.find_pin(datetime.max.replace(tzinfo=UTC)) >= order[number]
                yield TimedWarning(team.name, number, hit, at, by, own, is_passed)


def _print_pairs(pairs: Sequence[tuple[int, tuple[str, FollowingCommit], tuple[str, FollowingCommit]]]) -> None:
    days = [_count_days(later[1].at - first[1].at - CHECK_INTERVAL) for _, first, later in pairs]
    causes = len({number for number, _, _ in pairs})
    click.echo(
        f"named by two or more: {causes} causes, {len(pairs)} later ones; "
        f"days before the later one: {_describe(days)}"
    )


def _print_warnings(warnings: Sequence[TimedWarning]) -> None:
    for level in (TouchLevel.TOUCHES, TouchLevel.MAY_BREAK, TouchLevel.BREAKS):
        some = [each for each in warnings if each.hit.level >= level]
        changed = sum(each.has_changed for each in some)
        days = [_count_days(each.answer.at - each.at) for each in some if each.answer]
        idle = sum(each.is_passed and not each.has_changed for each in some)
        click.echo(
            f"warnings of level {level.name} and above: {len(some)}; "
            f"of these the team changed for it in {changed} (named it: {_describe(days)}), "
            f"passed {idle} without a change, {len(some) - changed - idle} are open at the end"
        )


def _count_days(span: timedelta) -> float:
    return span / timedelta(days=1)


def _describe(days: Iterable[float]) -> str:
    some = sorted(days)
    early = sum(each > 0 for each in some)
    return f"{early} of {len(some)} early, median {median(some):.1f}" if some else "none"


def _format_pair(pair: tuple[int, tuple[str, FollowingCommit], tuple[str, FollowingCommit]]) -> str:
    number, *sides = pair
    return f"pair #{number}: " + " | ".join(
        f"{name} {each.at:%Y-%m-%d} {each.commit[:10]} {each.title[:60]}" for name, each in sides
    )


def _format_warning(each: TimedWarning) -> str:
    answer = f"{each.answer.at:%Y-%m-%d} {each.answer.commit[:10]}" if each.answer else "none"
    passed = "passed" if each.is_passed else "not past"
    return (
        f"warning {each.to} #{each.number} {each.hit.level.name} {each.at:%Y-%m-%d} by {each.by.commit[:10]} "
        f"{each.by.response} {each.by.title[:60]} | {answer} | last tree {each.hit.last_level.name} | {passed}"
    )
