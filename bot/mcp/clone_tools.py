"""The tools over local clones that the operator names: commits of upstream, judged by a tree that builds on it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC
from functools import partial
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bot.errors import TimeLimitExceeded, UsageError
from bot.features.questions.reading import ReadingSession
from bot.mcp.declaration import ItemList, agent_tool
from bot.platform import deadlines
from bot.platform.git.reading import open_clone_trees
from bot.text import format_count
from impact.clones.kept_readings import find_kept_readings
from impact.clones.tree_scan import DownstreamTree, explain_uses, select_uses
from impact.clones.upstream_reader import JudgedRange, UpstreamReader
from impact.documents import CommitRow, GuideRow, UseRow, list_commit_rows, list_guide_rows, list_use_rows
from impact.profile.models import UseKind
from impact.text.strings import quote_input

MAX_COMMITS = 500
# hashes of 40 characters, each with quotes and a comma
_MAX_INPUT = 25_000
# touches of a commit, and uses of each
_MAX_SHOWN = 10
# seconds of a call that are left for what has no progress: to judge, and to say why lines stand there
_RESERVED = 10.0
# a reading takes all cores, so that two at a time would both take longer than a call may
_ONE_AT_A_TIME = threading.Lock()

Commit: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$", description="hash, 7 to 40 digits")]
At: TypeAlias = Annotated[
    str, Field(pattern=r"^(?:[0-9a-f]{7,40})?$", description="commit of your clone; default: its newest one")
]
Base: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^(?:[0-9a-f]{7,40})?$",
        description="commit of upstream that your code stands on; default: the one before, or what it pins",
    ),
]
Clone: TypeAlias = Annotated[str, Field(max_length=100, description="name of a clone; default: the operator's")]
Kind: TypeAlias = Literal[tuple(kind.name.lower() for kind in UseKind)]  # type: ignore[valid-type]


@contextmanager
def _open_clones(
    session: ReadingSession, upstream: str, downstream: str, at: str
) -> Iterator[tuple[UpstreamReader, DownstreamTree]]:
    """Yield a reader of the one clone and the tree of the other. Raises UsageError, TimeLimitExceeded."""
    folders = {folder.name.removesuffix(".git"): folder for folder in session.app.settings.prdigest_mcp_clones}
    first, *others = folders
    ours = downstream or (others[0] if len(others) == 1 else "")
    for name in (upstream or first, ours):
        if name not in folders:
            raise UsageError(f"{quote_input(name)} is no clone that I may read: use {', '.join(folders)}.")
    if not _ONE_AT_A_TIME.acquire(timeout=min(deadlines.get_seconds_left(), threading.TIMEOUT_MAX)):
        raise TimeLimitExceeded("Another call reads the clones: try again in a minute.")
    kept = find_kept_readings(os.environ)

    def check_time(done: int, total: int) -> None:
        deadlines.get_limit().ending.raise_if_triggered()
        if deadlines.get_seconds_left() < _RESERVED and done < total:
            again = (
                "and keep them: ask again, and I go on from there" if kept else "and no more: name fewer commits"
            )
            raise TimeLimitExceeded(f"I have read {done:,} of {total:,} files or commits, {again}.")

    try:
        with ExitStack() as stack:
            trees = [stack.enter_context(open_clone_trees(folders[name])) for name in (upstream or first, ours)]
            now = session.app.now().astimezone(UTC)
            reader = UpstreamReader(trees[0], None, check_time, kept)
            yield reader, DownstreamTree(trees[1], ours, now, at)
    finally:
        _ONE_AT_A_TIME.release()


def _judge(reader: UpstreamReader, tree: DownstreamTree, names: Sequence[str], base: str) -> JudgedRange:
    line, until = reader.select_commits(names, MAX_COMMITS), deadlines.get_limit().end - _RESERVED
    return reader.judge(line, partial(reader.scan, tree), base, tree.trees, until)


@agent_tool(
    "judge_commits",
    "Judge commits by a team's code",
    "What commits of upstream do to the team's code at one of its commits, by local clones. Each has a row, and "
    "the level of those that do nothing is no. A level of null says that not all of a commit could be read. "
    "Pass either hashes or a range.",
    item=CommitRow,
    needs="clones",
    most_input=_MAX_INPUT,
)
def judge_commits(
    session: ReadingSession,
    commits: Annotated[Sequence[Commit], Field(max_length=MAX_COMMITS)] = (),
    range: Annotated[  # noqa: A002 (as clients read it)
        str,
        Field(
            pattern=r"^(?:[\w./+-]{1,100}\.\.[\w/+-][\w./+-]{0,99})?$", description="BASE..TARGET, without BASE"
        ),
    ] = "",
    at: At = "",
    base: Base = "",
    downstream: Clone = "",
    upstream: Clone = "",
) -> ItemList:
    if bool(commits) == bool(range):
        raise UsageError("Pass either commits or a range, such as 97f2f160fd..c9461e05a4.")
    with _open_clones(session, upstream, downstream, at) as (reader, tree):
        judged = _judge(reader, tree, commits or (range,), base)
        reasons = explain_uses(tree.trees, judged.profile.commit, judged.uses)
    profile = judged.profile
    rows = list_commit_rows(judged.commits, reasons, _MAX_SHOWN)
    return ItemList(
        f"what commits of upstream after {judged.base[:10]} do to {profile.name} at {profile.commit[:10]}, judged "
        f"by code against {format_count(len(profile.uses), 'use')}. {judged.judges}",
        rows,
    )


@agent_tool(
    "commit_guide",
    "Say what adapting to a commit takes",
    "What adapting the team's code to one commit of upstream takes: what changed, the lines of the team and why "
    "they stand there. Also how upstream changed its own callers, what its description says on that, and tests "
    "on both sides.",
    item=GuideRow,
    needs="clones",
)
def guide_commit(
    session: ReadingSession,
    *,
    commit: Commit,
    at: At = "",
    base: Base = "",
    downstream: Clone = "",
    upstream: Clone = "",
) -> ItemList:
    with _open_clones(session, upstream, downstream, at) as (reader, tree):
        judged = _judge(reader, tree, (commit,), base)
        reasons = explain_uses(tree.trees, judged.profile.commit, judged.uses)
    guides = list_guide_rows(judged.commits, judged.profile, judged.messages, reasons)
    return ItemList(f"how to adapt {judged.profile.name} to {commit[:10]}. {judged.judges}", guides)


@agent_tool(
    "uses_by_kind",
    "List the uses of upstream by kind",
    "The lines of the team's code that use upstream, such as all that override or replace something of it. Each "
    "has why it stands there if a comment or docstring says so.",
    item=UseRow,
    needs="clones",
)
def list_uses(
    session: ReadingSession,
    kinds: Annotated[Sequence[Kind], Field(max_length=len(UseKind), description="default: all")] = (),
    name: Annotated[str, Field(max_length=300, description="a name of upstream, or a path of the team's")] = "",
    at: At = "",
    base: Base = "",
    downstream: Clone = "",
    upstream: Clone = "",
) -> ItemList:
    with _open_clones(session, upstream, downstream, at) as (reader, tree):
        profile = reader.scan(tree, reader.find_base(base))
        uses = select_uses(profile, [UseKind[kind.upper()] for kind in kinds], name)
        reasons = explain_uses(tree.trees, profile.commit, uses.ignore_coverage())
    about = f"the uses of upstream in {profile.name} at {profile.commit[:10]}"
    return ItemList(about, list_use_rows(uses, reasons))
