"""The way to a later commit as a checklist in Markdown, which a canvas of Slack takes as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.text.strings import format_count, truncate_text
from bot.render.blocks.file_markdown import escape_line, write_address, write_code
from bot.render.touches.sentences import COUNTED_LEVELS, format_free_way, name_change_level
from impact.contract.models import ChangeKind, ContractChange
from impact.contract.net_changes import MergeReference, NetChange
from impact.history.merges import WrittenMerge
from impact.history.outcomes import MergeOutcome, OutcomeKind
from impact.profile.models import Use
from impact.python.models import Parameter, Signature
from impact.source.models import SourceProblem
from impact.source.revisions import is_tag
from impact.touches.deprecations import UsedDeprecation
from impact.touches.models import TouchLevel
from impact.touches.upgrade import FileWork, StoppingPoint, UpgradeItem, UpgradePlan

# characters of an upstream line; a signature of many parameters has more
_MAX_CODE = 220
_MAX_PARAMETERS, _MAX_PARAMETER = 12, 60
_MAX_LINES_SHOWN, _MAX_MERGES_SHOWN = 6, 4
_MAX_NAMES_SHOWN = 4
_MAX_REGRESSIONS, _MAX_DEPRECATIONS, _MAX_UNREAD = 30, 40, 10
_HASH_LENGTH = 10
_WITHOUT_TEXT = frozenset(map(str, (SourceProblem.BINARY, SourceProblem.SYMLINK, SourceProblem.SUBMODULE)))
_OUTCOME_WORDS = {
    OutcomeKind.REVERTED: "reverted",
    OutcomeKind.PARTLY: "reverted in part",
    OutcomeKind.REPAIRED: "repaired",
}


def render_upgrade(plan: UpgradePlan, url: str = "", pin: str = "") -> str:
    """Render a plan. ``url`` is the address of the upstream repository; without one, commits are not linked.

    ``pin`` is the name of the start, such as a tag.
    """
    writer = _Writer(url)
    parts = [_format_head(plan, pin)]
    if not plan.files:
        parts.append(format_free_way(escape_line(plan.profile)))
    parts += writer.list_stops(plan)
    for work in plan.files:
        if work.level > TouchLevel.TOUCHES:
            parts += writer.list_work(work, lambda item: item.level > TouchLevel.TOUCHES)
    parts += writer.list_deprecations(plan.deprecations)
    parts += writer.list_regressions(plan.regressions)
    parts += writer.list_lookups(plan)
    parts += _list_unread(plan)
    return "\n".join(parts) + "\n"


def _format_head(plan: UpgradePlan, pin: str) -> str:
    counts = ", ".join(f"{plan.count_changes(level)} {words}" for level, words in COUNTED_LEVELS.items())
    merges = format_count(plan.merges, "merge")
    short = plan.start[:_HASH_LENGTH]
    start = f"{escape_line(pin)} ({short})" if is_tag(pin) else short
    undone = (
        f" Left out: {format_count(plan.undone, 'name')} that changed on the way: "
        "taken back, or in what is new or gone."
        if plan.undone
        else ""
    )
    return (
        f"# Upgrade {escape_line(plan.profile)}: {start} to {plan.end[:_HASH_LENGTH]}\n\n"
        f"{merges}, checked against {format_count(plan.uses, 'use')}. Net changes: {counts}.{undone}\n"
    )


class _Writer:
    """Writes the sections of a plan, with links to a repository."""

    def __init__(self, url: str) -> None:
        self._url = url

    def list_stops(self, plan: UpgradePlan) -> Iterator[str]:
        """Yield the stopping points, in order."""
        if not plan.stops:
            return
        yield "## Stopping points\n"
        yield "Each is the last commit before something breaks: move the pin there, adapt, go on.\n"
        for stop in plan.stops:
            yield self._format_stop(stop)
        yield f"- [ ] {self._link_commit(plan.end)}, the end\n"

    def list_work(self, work: FileWork, is_shown: Callable[[UpgradeItem], bool]) -> Iterator[str]:
        """Yield the checklist of a file."""
        yield f"## {write_code(work.path)}\n"
        for item in filter(is_shown, work.items):
            yield self._format_item(item)
        yield ""

    def list_lookups(self, plan: UpgradePlan) -> Iterator[str]:
        """Yield one line for each change that only touches us, with all its places."""
        items = [item for work in plan.files for item in work.items]
        above = {item.net for item in items if item.level > TouchLevel.TOUCHES}
        groups: dict[NetChange, list[UpgradeItem]] = {}
        for item in items:
            if item.net not in above:
                groups.setdefault(item.net, []).append(item)
        if not groups:
            return
        yield "## Worth a look\n"
        for group in groups.values():
            yield self._format_lookup(group)
        yield ""

    def list_deprecations(self, used: tuple[UsedDeprecation, ...]) -> Iterator[str]:
        """Yield the deprecations whose deadline is on the way."""
        if not used:
            return
        yield "## Deprecated on the way, and used by us\n"
        for each in used[:_MAX_DEPRECATIONS]:
            entry, first = each.entry, each.uses[0]
            instead = f"; use {write_code(entry.replacement)}" if entry.replacement else ""
            when = f", to go in {escape_line(entry.when)}" if entry.when else ""
            yield (
                f"- [ ] {write_code(entry.name)}{when}{instead} ({self._link_pull(entry.number)}), "
                f"used at {write_code(f'{first.path}:{first.line}')}{_count_others(len(each.uses) - 1)}"
            )
        yield from _count_rest(len(used) - _MAX_DEPRECATIONS)
        yield ""

    def list_regressions(self, outcomes: tuple[MergeOutcome[WrittenMerge], ...]) -> Iterator[str]:
        """Yield what was repaired or reverted only after the end."""
        if not outcomes:
            return
        yield "## Known regressions that the end still has\n"
        for outcome in outcomes[:_MAX_REGRESSIONS]:
            yield (
                f"- [ ] {self._link_pull(outcome.pull.number)} {escape_line(outcome.pull.title)}: "
                f"{_OUTCOME_WORDS[outcome.kind]} later by {self._link_pull(outcome.by.number)}"
            )
        yield from _count_rest(len(outcomes) - _MAX_REGRESSIONS)
        yield ""

    def _format_lookup(self, group: Sequence[UpgradeItem]) -> str:
        places = list(dict.fromkeys((use.path, use.line) for item in group for use in item.uses))
        shown = ", ".join(write_code(f"{path}:{line}") for path, line in places[:_MAX_LINES_SHOWN])
        more = f" and {len(places) - _MAX_LINES_SHOWN} more" if len(places) > _MAX_LINES_SHOWN else ""
        return f"- [ ] {self._format_change(group[0])}: {shown}{more}"

    def _format_stop(self, stop: StoppingPoint) -> str:
        names = dict.fromkeys(item.net.change.name for item in stop.items)
        shown = ", ".join(write_code(_shorten_name(name)) for name in [*names][:_MAX_NAMES_SHOWN])
        more = f" and {len(names) - _MAX_NAMES_SHOWN} more" if len(names) > _MAX_NAMES_SHOWN else ""
        files = format_count(len({item.uses[0].path for item in stop.items}), "file")
        return (
            f"- [ ] {self._link_commit(stop.commit)}, before {self._link_pull(stop.number)} "
            f"{escape_line(stop.title)}: {shown}{more} in {files}"
        )

    def _format_item(self, item: UpgradeItem) -> str:
        change, level = item.net.change, name_change_level(item.level).capitalize()
        lines = [
            f"- [ ] **{level}**, {_format_lines(item.uses)}: {self._format_change(item)}",
            f"    - ours: {write_code(truncate_text(item.uses[0].text.strip(), _MAX_CODE))}",
        ]
        if not item.uses[0].text.strip():
            lines.pop()
        if upstream := describe_difference(change):
            lines.append(f"    - upstream: {upstream}")
        if item.touch.action:
            lines.append(f"    - to do: {_escape_action(item.touch.action)}")
        return "\n".join(lines)

    def _format_change(self, item: UpgradeItem) -> str:
        change = item.net.change
        reason = f": {_escape_action(item.touch.reason)}" if item.touch.reason else ""
        return f"{write_code(change.name)} {_describe_kind(change)}{reason} ({self._link_net(item.net)})"

    def _link_net(self, net: NetChange) -> str:
        merges = ", ".join(self._link_pull(merge.number) for merge in net.merges[-_MAX_MERGES_SHOWN:])
        return f"{merges}, {line}" if (line := self._link_line(net.change, net.last_merge)) else merges

    def _link_line(self, change: ContractChange, merge: MergeReference) -> str:
        place = escape_line(f"{change.path.rpartition('/')[2]}:{change.line}")
        # a line that is gone is in the merge itself
        if not self._url or change.side is DiffSide.OLD:
            return place
        return f"[{place}]({write_address(f'{self._url}/blob/{merge.commit}/{change.path}')}#L{change.line})"

    def _link_pull(self, number: int) -> str:
        if number < 0:
            return "a direct commit"
        return f"[#{number}]({write_address(f'{self._url}/pull/{number}')})" if self._url else f"#{number}"

    def _link_commit(self, commit: str) -> str:
        short = commit[:_HASH_LENGTH] or "the start"
        if not self._url or not commit:
            return short
        return f"[{short}]({write_address(f'{self._url}/commit/{commit}')})"


def describe_difference(change: ContractChange) -> str:
    """Describe what is different: the parameters of a signature, else both sides; empty if that says nothing."""
    old, new = change.old_signature, change.new_signature
    if change.kind is ChangeKind.SIGNATURE and old and new and (parameters := _describe_parameters(old, new)):
        return parameters
    if change.before == change.after:
        return ""
    sides = (truncate_text(text, _MAX_CODE) for text in (change.before, change.after) if text)
    return " → ".join(map(write_code, sides))


def _describe_parameters(old: Signature, new: Signature) -> str:
    before = {each.name: each for each in old.parameters}
    after = {each.name: each for each in new.parameters}
    shared = [name for name in before if name in after]
    parts = [
        _list_parameters("without", (each for each in old.parameters if each.name not in after)),
        _list_parameters("with", (each for each in new.parameters if each.name not in before)),
        _list_parameters("other default:", (after[n] for n in shared if before[n].default != after[n].default)),
    ]
    if shared != [name for name in after if name in before]:
        parts.append(f"order: {', '.join(write_code(each.name) for each in new.parameters[:_MAX_PARAMETERS])}")
    return "; ".join(part for part in parts if part)


def _list_parameters(label: str, parameters: Iterable[Parameter]) -> str:
    names = [each.name if each.default is None else f"{each.name}={each.default}" for each in parameters]
    if not names:
        return ""
    more = f" and {len(names) - _MAX_PARAMETERS} more" if len(names) > _MAX_PARAMETERS else ""
    shown = (write_code(truncate_text(name, _MAX_PARAMETER)) for name in names[:_MAX_PARAMETERS])
    return f"{label} {', '.join(shown)}{more}"


def _describe_kind(change: ContractChange) -> str:
    if change.new_name and change.kind in (ChangeKind.MOVED, ChangeKind.RENAMED):
        return f"{change.kind} to {write_code(change.new_name)}"
    return f"({change.kind})"


def _format_lines(uses: tuple[Use, ...]) -> str:
    lines = list(dict.fromkeys(use.line for use in uses))
    shown = ", ".join(map(str, lines[:_MAX_LINES_SHOWN]))
    more = f" and {len(lines) - _MAX_LINES_SHOWN} more" if len(lines) > _MAX_LINES_SHOWN else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"


def _shorten_name(name: str) -> str:
    """Return the last two parts of a dotted name."""
    return ".".join(name.split(".")[-2:]) if "/" not in name and " " not in name else name


def _escape_action(text: str) -> str:
    """Escape a clause that has code between backticks."""
    return escape_line(text)


def _count_rest(rest: int) -> Iterator[str]:
    if rest > 0:
        yield f"- and {rest} more"


def _count_others(others: int) -> str:
    return f" and {format_count(others, 'other line')}" if others else ""


def _list_unread(plan: UpgradePlan) -> Iterator[str]:
    """Yield the files that could not be read, apart from those that hold no text."""
    unread = [file for file in plan.unread if file.reason not in _WITHOUT_TEXT]
    if not unread:
        return
    yield "## Not read\n"
    for file in unread[:_MAX_UNREAD]:
        yield f"- {write_code(file.path)}: {escape_line(file.reason)}"
    yield from _count_rest(len(unread) - _MAX_UNREAD)
    yield ""
