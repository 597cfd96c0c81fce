"""``python -m evals others``: how early a warning comes that another downstream followed what touches one, too.

Each downstream is judged by its own tree, week by week, as a profile is; a warning comes where another one had
changed for the same merge, unless this one had, or its pin was past it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import click

from bot.platform.git.reading import open_clone_trees
from bot.platform.store.due_queue import CHECK_INTERVAL
from impact.clones.clone_contracts import extract_contracts
from impact.clones.followers import ChangedNames, list_changed_names, read_following
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import DownstreamTree
from impact.clones.upstream_line import read_upstream, select_dates
from impact.clones.upstream_reader import UpstreamReader
from impact.clones.windows import list_weekly_windows, mine_pins
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
class Downstream:
    """What one downstream did: its commits by merge, first ones, its hits by level, and its pins by time."""

    name: str
    following: Mapping[int, FollowingCommit]
    hits: Mapping[int, TouchLevel]
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
    level: TouchLevel
    at: datetime
    by: FollowingCommit
    answer: FollowingCommit | None
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
    with open_clone_trees(upstream) as trees:
        places = {each.sha: place for place, each in enumerate(trees.list_line())}
        line = read_upstream(trees, select_dates(trees.list_line(), dates), counts_lines=False)
        contracts = list(extract_contracts(trees, line.merges, _show, find_kept_readings(os.environ)))
        packages = detect_packages(trees.list_files(line.every[-1].commit.sha))
        upstreams = [*dict.fromkeys((*packages, *([line.repository.name] if line.title else [])))]
        merges = {each.number: list_changed_names(each) for each in contracts}
        order = {each.number: places[each.commit] for each in contracts}
        downstreams = []
        for folder in folders:
            with open_clone_trees(folder) as team:
                name = folder.resolve().parent.name if folder.name == "repo" else folder.name
                read = _read_downstream(name, team, trees, dates, contracts, merges, upstreams, places)
            named = sum(each.is_named for each in read.following.values())
            click.echo(
                f"{name}: followed {len(read.following)} merges ({named} by their number), touched by "
                f"{len(read.hits)}, {len(read.pins)} pins"
            )
            downstreams.append(read)
    pairs = list(_list_pairs(downstreams))
    warnings = list(_list_warnings(downstreams, order))
    _print_pairs(pairs)
    _print_warnings(warnings)
    if is_listed:
        for row in (*map(_format_pair, pairs), *map(_format_warning, warnings)):
            click.echo(row)


def _show(done: int, total: int) -> None:
    if done % 500 == 0:
        click.echo(f"{done} of {total} merges", err=True)


def _read_downstream(
    name: str,
    team: CloneTrees,
    upstream: CloneTrees,
    dates: EvaluationWindow,
    contracts: Sequence[MergeContract],
    merges: Mapping[int, ChangedNames],
    upstreams: Sequence[str],
    places: Mapping[str, int],
) -> Downstream:
    following: dict[int, FollowingCommit] = {}
    for each in read_following(team, upstreams, merges, dates.start):
        if each.at.date() <= dates.until:
            following.setdefault(each.number, each)
    times = {each.sha: each.committed_at for each in team.list_line()}
    pins = [
        (times[pin.adapting], places[pin.new])
        for pin in mine_pins(upstream, team, dates, upstreams)
        if pin.adapting in times and times[pin.adapting].date() <= dates.until
    ]
    return Downstream(name, following, dict(_judge(name, team, upstream, dates, contracts)), sorted(pins))


def _judge(
    name: str, team: CloneTrees, upstream: CloneTrees, dates: EvaluationWindow, contracts: Sequence[MergeContract]
) -> Iterator[tuple[int, TouchLevel]]:
    reader = UpstreamReader(upstream, kept=find_kept_readings(os.environ))
    by_commit = {each.commit: each for each in contracts}
    start = next((each.committed_at for each in team.list_line()), dates.start)
    first = max(dates.since, start.date() + timedelta(days=1))
    if first > dates.until:
        return
    for window in list_weekly_windows(upstream, team, EvaluationWindow(first, dates.until)):
        tree = DownstreamTree(team, name, datetime.now(UTC), window.downstream)
        try:
            index = ProfileIndex(reader.scan(tree, window.upstream))
        except UsageError as error:
            click.echo(f"{name}, {window.title}: {error}", err=True)
            continue
        for sha in window.merges:
            if contract := by_commit.get(sha):
                judged = judge_merge(contract, index)
                if judged.level > TouchLevel.NO:
                    yield contract.number, judged.level


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
        for number, level in sorted(team.hits.items()):
            commits = [
                each.following[number] for each in downstreams if each is not team and number in each.following
            ]
            if not commits:
                continue
            by = min(commits, key=lambda each: each.at)
            at, own = by.at + CHECK_INTERVAL, team.following.get(number)
            is_past = team.find_pin(at) >= order[number]
            if not is_past and (own is None or own.at > at):
                yield TimedWarning(
                    team.name,
                    number,
                    level,
                    at,
                    by,
                    own,
                    team.find_pin(datetime.max.replace(tzinfo=UTC)) >= order[number],
                )


def _print_pairs(pairs: Sequence[tuple[int, tuple[str, FollowingCommit], tuple[str, FollowingCommit]]]) -> None:
    named = [pair for pair in pairs if pair[1][1].is_named and pair[2][1].is_named]
    for title, some in (("named by two or more", named), ("followed by two or more", pairs)):
        days = [_count_days(later[1].at - first[1].at - CHECK_INTERVAL) for _, first, later in some]
        causes = len({number for number, _, _ in some})
        click.echo(
            f"{title}: {causes} causes, {len(some)} later ones; days before the later one: {_describe(days)}"
        )


def _print_warnings(warnings: Sequence[TimedWarning]) -> None:
    for level in (TouchLevel.TOUCHES, TouchLevel.MAY_BREAK, TouchLevel.BREAKS):
        some = [each for each in warnings if each.level >= level]
        for title, kept in (("all", some), ("named", [each for each in some if each.by.is_named])):
            needed = [each for each in kept if each.answer]
            idle = sum(each.is_passed for each in kept if not each.answer)
            days = [_count_days(each.answer.at - each.at) for each in needed if each.answer]
            click.echo(
                f"warnings of level {level.name} and above, by {title}: {len(kept)}; of these the team changed "
                f"for it later in {len(needed)} ({_describe(days)}), passed {idle} without a change, "
                f"was not past {len(kept) - len(needed) - idle} at the end"
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
        f"{name} {each.at:%Y-%m-%d} {each.commit[:10]} {'named' if each.is_named else each.name} {each.title[:60]}"
        for name, each in sides
    )


def _format_warning(each: TimedWarning) -> str:
    answer = f"{each.answer.at:%Y-%m-%d} {each.answer.commit[:10]} {each.answer.name}" if each.answer else "none"
    passed = "passed" if each.is_passed else "not past"
    return (
        f"warning {each.to} #{each.number} {each.level.name} {each.at:%Y-%m-%d} by {each.by.commit[:10]} "
        f"{each.by.response} {each.by.name} {each.by.title[:60]} | {answer} | {passed}"
    )
