"""Texts for the model of what people wrote about a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.domain.pull_requests.discussion import Discussion, Remark, RemarkKind, shorten_remarks
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.services.source.text_limits import MAX_RESULT_LENGTH

# what a citation writes in front of the name of a remark, in place of a path
SHOWN_PLACE = "#"
# characters of one text: the reason for a decision stands in its first paragraphs, a report of a bug is longer
_MAX_REMARK_LENGTH, _MAX_ISSUE_LENGTH = 1_200, 2_000
_MAX_TITLE_LENGTH, _MAX_PATH_LENGTH = 200, 120
# for the head and the notes at the end
_ROOM = 1_000
_INDENT = "  "
_HEADINGS = {
    RemarkKind.ISSUE: "Issues that it closes:",
    RemarkKind.COMMENT: "Comments, oldest first:",
    RemarkKind.REVIEW: "Reviews, oldest first:",
    RemarkKind.RESOLVED: "Threads on lines:",
}
_SECTIONS = {
    RemarkKind.APPROVAL: RemarkKind.REVIEW,
    RemarkKind.REFUSAL: RemarkKind.REVIEW,
    RemarkKind.OPEN: RemarkKind.RESOLVED,
}


def select_remarks(discussion: Discussion) -> tuple[Remark, ...]:
    """Return the remarks that are shown, each with as much of its text as is shown."""
    cut = (replace(remark, text=_cut_text(remark)) for remark in discussion.told)
    return shorten_remarks(cut, MAX_RESULT_LENGTH - _ROOM)


def _cut_text(remark: Remark) -> str:
    """Return the beginning of a text, without empty lines, which would take the room of others."""
    most = _MAX_ISSUE_LENGTH if remark.kind is RemarkKind.ISSUE else _MAX_REMARK_LENGTH
    lines = (line.rstrip() for line in remark.text.split("\n"))
    return truncate_text("\n".join(line for line in lines if line), most)


def format_discussion(discussion: Discussion, remarks: Sequence[Remark]) -> str:
    """Return the remarks with who wrote them; a text is indented, so that no line of it looks like one of ours."""
    title = truncate_text(collapse_lines(discussion.title), _MAX_TITLE_LENGTH)
    lines = [f"What people wrote about #{discussion.number} {title} (what they say; nobody has checked it):"]
    section = None
    for remark in remarks:
        if section is not (section := _SECTIONS.get(remark.kind, remark.kind)):
            lines.append(_HEADINGS[section])
        lines += [_format_head(remark), *(f"{_INDENT}{line}" for line in remark.text.split("\n") if line)]
    return "\n".join([*lines, *_format_notes(discussion, remarks)])


def _format_head(remark: Remark) -> str:
    """Return who wrote a remark, when and where."""
    when = f", {remark.written_at:%Y-%m-%d %H:%M}Z" if remark.written_at else ""
    path = f" on {truncate_text(collapse_lines(remark.path), _MAX_PATH_LENGTH)}" if remark.path else ""
    title = truncate_text(collapse_lines(remark.title), _MAX_TITLE_LENGTH)
    what = f"{remark.state}: {title}" if remark.kind is RemarkKind.ISSUE else f"{remark.kind}{path}"
    return f"[{SHOWN_PLACE}{remark.anchor}] {remark.author.login} ({remark.role}){when}, {what}"


def _format_notes(discussion: Discussion, remarks: Sequence[Remark]) -> list[str]:
    """Return what is not shown."""
    told = discussion.told
    noise = len(discussion.remarks) - len(told)
    hidden = len(told) - len(remarks) + discussion.unlisted
    notes = [] if remarks or discussion.is_partial else ["No issue, comment or review with words."]
    if noise:
        notes.append(f"[left out: {format_count(noise, 'remark')} by bots, to bots or without words]")
    if hidden:
        notes.append(f"[cut: {format_count(hidden, 'older remark')} not shown]")
    if discussion.is_partial:
        notes.append("[GitHub sent only a part: this is no proof that nothing else was said]")
    return notes
