from __future__ import annotations

import re
from collections.abc import Iterator

from impact.text.strings import remove_comments, remove_invisible, truncate_text

_FENCE = re.compile(r"\s{0,3}(?P<mark>`{3,}|~{3,})")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)]) ")
_HEADING = re.compile(r"#{1,6} |\*\*[^*]{1,80}\*\*:?$|[^:]{1,80}:$")
# a rollback plan names what would be reverted if the change fails; it reverts nothing
_ROLLBACK_PLAN = re.compile(
    r"\broll-?\s?backs?\b|\bback-?out\b|\brevert(?:ing)? (?:plan|strategy|steps)|\bto revert\b", re.I
)
# what those who build on something look for in the description of a change
_ADVICE_HEADING = re.compile(r"migrat|breaking|upgrad|adapt|downstream|compatib|plug-?in|out[- ]of[- ]tree", re.I)
_ADVICE = re.compile(
    r"\bmigrat|\bbreaking[ -]change|\bbackwards?[ -](?:in)?compat|\bdownstream|\bout[- ]of[- ]tree|\bplug-?ins?\b"
    r"|\binstead of\b|\b(?:should|must|need to|have to) (?:now|update|change|pass|use|call|override|implement)\b",
    re.I,
)
# characters
_MAX_DESCRIPTION, _MAX_ADVICE = 50_000, 2_000
_LINK = re.compile(r"\[(?P<text>[^\[\]]{0,200})\]\((?P<address>[^\s()]{1,300})\)")
_PULL_OR_COMMIT = re.compile(r"https?://[^/\s]{1,100}/[^/\s]{1,100}/[^/\s]{1,100}/(?:pull|commit)/")


def extract_advice(markdown: str) -> str:
    """Return what a description says to those who have to adapt to a change; empty if it says nothing.

    These are its sections with such a heading, to the next one, or else the paragraphs with such words. Code
    stays.
    """
    sections, paragraphs = [[""]], [[""]]
    fence, levels = "", [7]
    for line in remove_comments(markdown[:_MAX_DESCRIPTION]).splitlines():
        mark = _FENCE.match(line)
        fence = _update_fence(fence, mark["mark"]) if mark else fence
        text = line.strip()
        if not fence and _HEADING.match(text) and not text.endswith(":"):
            level = len(text) - len(text.lstrip("#")) or 7
            # a section has those below it
            if not (_ADVICE_HEADING.search(sections[-1][0]) and level > levels[-1]):
                sections.append([])
                levels.append(level)
        if not fence and not text:
            paragraphs.append([])
        sections[-1].append(line)
        paragraphs[-1].append(line)
    chosen = [each for each in sections[1:] if _ADVICE_HEADING.search(each[0])]
    chosen = chosen or [each for each in paragraphs if _ADVICE.search("\n".join(each))]
    texts = ("\n".join(lines).strip() for lines in chosen)
    return truncate_text(remove_invisible("\n\n".join(texts)), _MAX_ADVICE)


def extract_prose(markdown: str) -> str:
    """Return the statements of a description, with single spaces; each list item begins with ``- ``.

    Comments, code blocks, quotations and rollback plans are left out. Links to pull requests and commits are
    replaced by their addresses.
    """
    return "\n".join(_iterate_statement_lines(remove_comments(markdown)))


def _iterate_statement_lines(text: str) -> Iterator[str]:
    fence, is_plan = "", False
    for raw in text.splitlines():
        mark = _FENCE.match(raw)
        if fence or mark:
            # a fence ends at one that is at least as long
            fence = _update_fence(fence, mark["mark"] if mark else "")
            continue
        line = " ".join(raw.split())
        if _HEADING.match(line):
            is_plan = bool(_ROLLBACK_PLAN.search(line)) and "#" not in line.lstrip("# ")
        if not is_plan and not line.startswith(">"):
            yield _strip_markup(line)


def _update_fence(fence: str, mark: str) -> str:
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def _strip_markup(line: str) -> str:
    bullet = _BULLET.match(line)
    rest = _LINK.sub(_choose_link_text, line[bullet.end() :] if bullet else line)
    return ("- " if bullet else "") + rest.replace("*", "").replace("`", "")


def _choose_link_text(link: re.Match[str]) -> str:
    return link["address"] if _PULL_OR_COMMIT.match(link["address"]) else link["text"]
