"""The way to a later commit: as a checklist in Markdown, which a canvas of Slack takes, and as a message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bot.features.merges.view import format_more, join_some, make_list, render_lines
from bot.features.touches.lines import (
    NEWS_TITLE,
    make_place_cell,
    make_sentence,
    render_action,
    render_effect,
    render_other_places,
    render_spent,
    shorten_start,
)
from bot.platform.markdown import escape_line, write_address, write_code, write_fence
from bot.platform.slack.blocks import (
    MIN_TABLE_ROWS,
    UNNAMED,
    Attachment,
    Block,
    Element,
    Post,
    choose_fitting_blocks,
    escape_mrkdwn,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_table,
    make_text,
)
from bot.text import format_count
from impact.contract.models import ChangeKind, ContractChange
from impact.contract.net_changes import NetChange
from impact.python.models import Parameter, Signature
from impact.source.models import DiffSide, is_tag
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import TouchLevel
from impact.touches.profile_index import UsedDeprecation
from impact.touches.spent import SpentUse
from impact.touches.upgrade import FileWork, StoppingPoint, UpgradeItem, UpgradePlan

# characters of an upstream line; a signature of many parameters has more
_MAX_CODE = 220
_MAX_PARAMETERS, _MAX_PARAMETER = 12, 60
_MAX_LINES, _MAX_MERGES, _MAX_NAMES = 6, 4, 4
_MAX_REGRESSIONS, _MAX_DEPRECATIONS, _MAX_UNREAD, _MAX_SPENT = 30, 40, 10, 40
_HASH_LENGTH = 10
# what one merge does, and what several do
_VERBS = {
    TouchLevel.BREAKS: ("breaks", "break"),
    TouchLevel.STOPS_SILENTLY: ("silently stops something in", "silently stop something in"),
    TouchLevel.MAY_BREAK: ("may break", "may break"),
    TouchLevel.TOUCHES: ("touches", "touch"),
}


# --- the checklist. Without the address of the upstream repository (``url``), nothing is linked


def render_upgrade(plan: UpgradePlan, url: str = "", pin: str = "") -> str:
    """Render a plan. ``pin`` is the name of the start, such as a tag."""
    rest = [*_list_spent(plan, url), *_list_deprecations(plan, url), *_list_regressions(plan, url)]

    def format_work(work: FileWork) -> Iterator[tuple[FileWork, str]]:
        items = [_format_item(item, url) for item in work.items if item.level > TouchLevel.TOUCHES]
        yield work, "\n".join([f"## {write_code(work.path)}\n", *items, ""]) if items else ""

    def show(works: Sequence[tuple[FileWork, str]]) -> Iterator[str]:
        undone, files = _format_undone(plan), [work for work, _ in works]
        yield f"{_count_work(plan, files)}; {_format_checked(plan)}.{f' {undone}.' if undone else ''}\n"
        yield from _list_stops(plan, url)
        yield from filter(None, (text for _, text in works))
        yield from rest
        yield from _list_lookups(files, url)

    short = plan.start[:_HASH_LENGTH]
    start = f"{escape_line(pin)} ({short})" if is_tag(pin) else short
    title = f"# Upgrade {escape_line(plan.profile)}: {start} to {plan.end[:_HASH_LENGTH]}\n"
    files = plan.files.derive_each("files of your code", lambda work: work.path, format_work)
    body = files.render(lambda sentence: f"{escape_line(sentence)}\n", show, _describe_nothing(plan))
    body += rest if files.is_empty else []
    unread = [f"- {write_code(file.path)}: {escape_line(file.reason)}" for file in files.coverage.files]
    body += [f"{escape_line(plan.judges)}\n"] if plan.judges else []
    return "\n".join([title, *body, *_make_part("## Not read\n", unread, _MAX_UNREAD)]) + "\n"


def _count_work(plan: UpgradePlan, works: Sequence[FileWork]) -> str:
    """Return how many merges do what to how many files, such as ``2 of 17 merges break 2 of your files``."""
    parts: list[str] = []
    items = _list_shown(works)
    for level, verbs in _VERBS.items():
        of_level = [(item.uses[0].path, item.net.last_merge.number) for item in items if item.level is level]
        files, merges = (len(set(each)) for each in zip(*of_level, strict=True)) if of_level else (0, 0)
        if merges:
            whole = "" if parts else f" of {format_count(plan.merges, 'merge')}"
            parts.append(f"{merges:,}{whole} {verbs[merges > 1]} {files:,}{'' if parts else ' of your files'}")
    return ", ".join(parts)


def _format_checked(plan: UpgradePlan) -> str:
    return f"checked against {format_count(plan.uses, 'place')} in your code"


def _format_undone(plan: UpgradePlan) -> str:
    cancels = "change cancels" if plan.undone == 1 else "changes cancel"
    return f"{plan.undone:,} {cancels} out; not shown" if plan.undone else ""


def _describe_nothing(plan: UpgradePlan) -> str:
    """Return the sentence for a plan without work where all was read."""
    merges = format_count(plan.merges, "merge")
    return f"None of {merges} touches what {collapse_lines(plan.profile)} uses ({_format_checked(plan)})."


def _make_part(title: str, lines: Sequence[str], most: int) -> list[str]:
    rest = [f"- {format_more(len(lines) - most)}"] if len(lines) > most else []
    return [title, *lines[:most], *rest, ""] if lines else []


def _list_stops(plan: UpgradePlan, url: str) -> Iterator[str]:
    if not plan.stops:
        return
    yield "## Steps\n"
    yield "Each ends at the last commit before something breaks: move the pin there, adapt, go on.\n"
    for stop in plan.stops:
        names = dict.fromkeys(item.net.change.name for item in stop.items)
        # the last two parts of a dotted name
        short = [name if "/" in name or " " in name else ".".join(name.split(".")[-2:]) for name in names]
        files = format_count(len({item.uses[0].path for item in stop.items}), "file")
        yield (
            f"- [ ] {_link_commit(stop.commit, url)}, before {_link_pull(stop.number, url)} "
            f"{escape_line(stop.title)}: {join_some([*map(write_code, short)], _MAX_NAMES)} in {files}"
        )
    yield f"- [ ] {_link_commit(plan.end, url)}, the end\n"


def _list_spent(plan: UpgradePlan, url: str) -> list[str]:
    def show(spent: Sequence[SpentUse]) -> Iterator[str]:
        for each in spent:
            merge = each.merge
            by = f" ({_link_pull(merge.number, url)} {escape_line(merge.title)})" if merge else ""
            place = write_code(f"{each.use.path}:{each.use.line}")
            yield f"- [ ] {place} {each.use.kind} {write_code(each.use.name)}: {escape_line(each.why)}{by}"
            if each.difference:
                yield write_fence(each.difference, "diff")

    gaps = plan.spent.explain_gaps()
    lines = [*([f"- {escape_line(gaps)}"] if gaps else []), *plan.spent.render_below(show)]
    return _make_part("## May go\n", lines, _MAX_SPENT)


def _list_deprecations(plan: UpgradePlan, url: str) -> list[str]:
    def show(used: UsedDeprecation) -> str:
        entry, first, others = used.entry, used.uses[0], len(used.uses) - 1
        instead = f"; use {write_code(entry.replacement)}" if entry.replacement else ""
        when = f", to go in {escape_line(entry.when)}" if entry.when else ""
        more = f" and {format_count(others, 'other line')}" if others else ""
        place = f"({_link_pull(entry.number, url)}), used at {write_code(f'{first.path}:{first.line}')}{more}"
        return f"- [ ] {write_code(entry.name)}{when}{instead} {place}"

    lines = [*map(show, plan.deprecations)]
    return _make_part("## Deprecated on the way, and used by us\n", lines, _MAX_DEPRECATIONS)


def _list_regressions(plan: UpgradePlan, url: str) -> list[str]:
    lines = [
        f"- [ ] {_link_pull(outcome.pull.number, url)} {escape_line(outcome.pull.title)}: "
        f"{outcome.kind} later by {_link_pull(outcome.by.number, url)}"
        for outcome in plan.regressions
    ]
    return _make_part("## Known regressions that the end still has\n", lines, _MAX_REGRESSIONS)


def _list_shown(works: Iterable[FileWork]) -> list[UpgradeItem]:
    """Return the items, but those of a change that does more to another file than to touch it."""
    items = [item for work in works for item in work.items]
    above = {item.net for item in items if item.level > TouchLevel.TOUCHES}
    return [item for item in items if item.level > TouchLevel.TOUCHES or item.net not in above]


def _list_lookups(works: Sequence[FileWork], url: str) -> list[str]:
    groups: dict[NetChange, list[UpgradeItem]] = {}
    for item in _list_shown(works):
        if item.level is TouchLevel.TOUCHES:
            groups.setdefault(item.net, []).append(item)
    lines = []
    for group in groups.values():
        places = dict.fromkeys(write_code(f"{use.path}:{use.line}") for item in group for use in item.uses)
        lines.append(_format_row([*places], "also at", group[0], url))
    return _make_part("## Worth a look\n", lines, len(lines))


def _format_item(item: UpgradeItem, url: str) -> str:
    change = item.net.change
    first, *others = dict.fromkeys(use.line for use in item.uses)
    also = "also line" if len(others) == 1 else "also lines"
    lines = [_format_row([f"**Line {first}**", *map(str, others)], also, item, url)]
    if text := item.uses[0].text.strip():
        lines.append(f"    - ours: {write_code(truncate_text(text, _MAX_CODE))}")
    if upstream := describe_difference(change):
        lines.append(f"    - upstream: {upstream}")
    if item.touch.action:
        lines.append(f"    - hint: {escape_line(item.touch.action)}")
    return "\n".join(lines)


def _format_row(places: Sequence[str], also: str, item: UpgradeItem, url: str) -> str:
    """Return what happens at the first of some places, with the whole name, the merges and the upstream line."""
    change, net = item.net.change, item.net
    is_elsewhere = change.new_name and change.kind in (ChangeKind.MOVED, ChangeKind.RENAMED)
    target = f" to {write_code(change.new_name)}" if is_elsewhere else ""
    others = f"; {also} {join_some(places[1:], _MAX_LINES)}" if places[1:] else ""
    merges = ", ".join(_link_pull(merge.number, url) for merge in net.merges[-_MAX_MERGES:])
    place = escape_line(f"{change.path.rpartition('/')[2]}:{change.line}")
    # a line that is gone is in the merge itself
    if url and change.side is not DiffSide.OLD:
        address = write_address(f"{url}/blob/{net.last_merge.commit}/{change.path}")
        place = f"[{place}]({address}#L{change.line})"
    source = f"{write_code(change.name)}{target}, {merges}, {place}"
    return f"- [ ] {places[0]} {escape_line(item.touch.effect)} ({source}){others}"


def _link_pull(number: int, url: str) -> str:
    if number < 0:
        return "a direct commit"
    return f"[#{number}]({write_address(f'{url}/pull/{number}')})" if url else f"#{number}"


def _link_commit(commit: str, url: str) -> str:
    short = commit[:_HASH_LENGTH] or "the start"
    return f"[{short}]({write_address(f'{url}/commit/{commit}')})" if url and commit else short


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
    codes = [write_code(truncate_text(name, _MAX_PARAMETER)) for name in names]
    return f"{label} {join_some(codes, _MAX_PARAMETERS)}" if names else ""


# --- the message: how much it is, where to stop, and what comes first

# how many stops, files, items of a file, and words of a reason are shown; tried until a message fits
_VERSIONS = ((4, 3, 2, 14), (3, 3, 1, 8), (2, 2, 1, 6))
# of a table, so many for each file of the shorter form
_ROWS_OF_FILE = 5


def render_upgrade_post(plan: UpgradePlan, url: str, pin: str = "") -> Post:
    """Render a plan as a message. ``url`` is the address of the upstream repository, ``pin`` the start's name."""
    title = _format_title(plan, pin)
    versions = ([make_header(title), *_render_plan(plan, url, *limits)] for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(choose_fitting_blocks(versions)))


def render_upgrade_file(plan: UpgradePlan, url: str, pin: str = "") -> Attachment:
    start, end = plan.start[:_HASH_LENGTH], plan.end[:_HASH_LENGTH]
    title = f"Checklist: {_format_title(plan, pin)}"
    return Attachment(f"upgrade-{plan.profile}-{start}-{end}.md", title, render_upgrade(plan, url, pin))


def _format_title(plan: UpgradePlan, pin: str) -> str:
    profile = truncate_text(collapse_lines(plan.profile), 40)
    start = f"{pin} ({plan.start[:_HASH_LENGTH]})" if is_tag(pin) else plan.start[:_HASH_LENGTH]
    return f"Upgrade {profile} · {start} to {plan.end[:_HASH_LENGTH]}"


def _render_plan(
    plan: UpgradePlan, url: str, most_stops: int, most_files: int, most_items: int, words: int
) -> Iterator[Block]:
    def show_stop(stop: StoppingPoint) -> list[Element]:
        link = make_link(f"{url}/commit/{stop.commit}", stop.commit[:_HASH_LENGTH])
        merge = [make_text(" before "), _link_number(stop.number, url), make_text(" ")]
        return [link, *merge, *make_prose(stop.title, {}, 60)]

    def show(works: Sequence[FileWork]) -> Iterator[Block]:
        yield make_sentence(f"{_count_work(plan, works)}.")
        if stops := plan.stops:
            title = f"{format_count(len(stops), 'step')}: each ends at the last commit before something breaks"
            yield make_list(title, render_lines(stops, most_stops, show_stop))
        files = [work for work in works if work.level > TouchLevel.TOUCHES] or works
        places = [(work, item) for work in files for item in work.items]
        if len(places) >= MIN_TABLE_ROWS:
            rows, hints = [], []
            for work, item in places[: most_files * _ROWS_OF_FILE]:
                place = make_place_cell(work.path, item.uses[0].line, len(item.uses) - 1)
                effect = render_effect(replace(item.touch, change=item.net.change), words)
                rows.append([place, effect, [_link_number(item.net.last_merge.number, url)]])
                # behind the full stop of a sentence
                if hint := render_action(item.touch, words)[1:]:
                    hints.append([place[0], *hint])
            title = f"{format_count(len(places), 'place')} in {format_count(len(files), 'file')} of your code"
            yield make_table(title, ("Your code", "What happens", "Merge"), rows)
            if hints:
                yield make_list("Hints", hints)
            rest, thing, where = len(places) - len(rows), "more place", ", in the file"
        else:
            for work in files[:most_files]:
                lines = render_lines(work.items, most_items, lambda item: _render_item(item, url, words))
                yield make_list(shorten_start(collapse_lines(work.path) or UNNAMED, "/"), lines)
            rest, thing, where = len(files) - most_files, "more file", ""
        if rest > 0:
            yield make_sentence(f"and {format_count(rest, thing)}{where}")

    def show_deprecation(used: UsedDeprecation) -> list[Element]:
        entry, when = used.entry, truncate_text(collapse_lines(used.entry.when), 40)
        name = make_text(truncate_text(collapse_lines(entry.name), 90) or UNNAMED, code=True)
        return [name, make_text(f" {when} (" if when else " ("), _link_number(entry.number, url), make_text(")")]

    yield from plan.files.render(make_sentence, show, _describe_nothing(plan))
    yield from render_spent(plan.spent, most_files)
    if plan.deprecations:
        yield make_list(NEWS_TITLE, render_lines(plan.deprecations, most_files, show_deprecation))
    yield from map(make_context, filter(None, (_format_undone(plan), plan.judges)))


def _render_item(item: UpgradeItem, url: str, words: int) -> list[Element]:
    return [
        make_text(f"line {item.uses[0].line} ", bold=item.level is TouchLevel.BREAKS),
        *render_effect(replace(item.touch, change=item.net.change), words),
        make_text(" ("),
        _link_number(item.net.last_merge.number, url),
        make_text(")"),
        *render_other_places(len(item.uses) - 1),
        *render_action(item.touch, words),
    ]


def _link_number(number: int, url: str) -> Element:
    return make_link(f"{url}/pull/{number}", f"#{number}") if number > 0 else make_text("a direct commit")
