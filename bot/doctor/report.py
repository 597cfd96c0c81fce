"""The doctor's findings as lines for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import click

from bot.platform.finding import CheckStatus, Finding
from bot.text import format_count
from impact.text.strings import collapse_lines

_MARKS = {CheckStatus.OK: "✓", CheckStatus.FAILED: "✗", CheckStatus.NOTE: "–"}  # noqa: RUF001 (a dash)
_COLOURS = {CheckStatus.OK: "green", CheckStatus.FAILED: "red", CheckStatus.NOTE: "yellow"}
_ARROW = "→"
_ASCII_SIGNS = str.maketrans({"✓": "ok  ", "✗": "FAIL", "–": "-   ", "→": "->", "…": "...", "·": "-"})  # noqa: RUF001


def format_finding(finding: Finding, encoding: str) -> str:
    """Format a finding as a line, and one for the advice; ``click.echo`` removes the mark's colour in files.

    What a terminal of that encoding can't show is replaced.
    """

    def fit(text: str) -> str:
        try:
            "".join((*_MARKS.values(), _ARROW, "…")).encode(encoding)
        except UnicodeEncodeError:
            text = text.translate(_ASCII_SIGNS)
        return text.encode(encoding, "replace").decode(encoding)

    mark = fit(_MARKS[finding.status])
    coloured = click.style(mark, fg=_COLOURS[finding.status])
    line = f"{coloured} {fit(collapse_lines(f'{finding.name}: {finding.result}'))}"
    if not finding.advice:
        return line
    return f"{line}\n{' ' * len(mark)} {fit(collapse_lines(f'{_ARROW} {finding.advice}'))}"


def format_report(findings: Sequence[Finding], encoding: str) -> str:
    """Format all findings: how many things there are to fix and which, then the others."""
    failed = [each for each in findings if each.status is CheckStatus.FAILED]
    others = [each for each in findings if each.status is not CheckStatus.FAILED]
    heading = f"{format_count(len(failed), 'problem')} to fix:" if failed else "No problems found."
    rows = [heading, *(format_finding(each, encoding) for each in failed), *([""] if failed else [])]
    return "\n".join([*rows, *(format_finding(each, encoding) for each in others)])


def format_findings_json(findings: Iterable[Finding]) -> str:
    """Format the findings as a list for scripts: name, status (ok, failed or note), found, advice."""
    # the names never change
    fields = [
        {"name": each.name, "status": each.status, "found": each.result, "advice": each.advice}
        for each in findings
    ]
    return json.dumps(fields, indent=2)
