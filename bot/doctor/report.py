"""The doctor's findings as lines for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import click

from bot.domain.operations.finding import Finding, Status
from bot.domain.text.strings import one_line, plural

_MARKS = {Status.OK: "✓", Status.FAILED: "✗", Status.NOTE: "–"}  # noqa: RUF001 (a dash)
_COLOURS = {Status.OK: "green", Status.FAILED: "red", Status.NOTE: "yellow"}
_ARROW = "→"
_PLAIN = str.maketrans({"✓": "ok  ", "✗": "FAIL", "–": "-   ", "→": "->", "…": "...", "·": "-"})  # noqa: RUF001


def lines(finding: Finding, encoding: str) -> str:
    """Format a finding as a line, and one for the advice; ``click.echo`` removes the mark's colour in files."""
    mark = click.style(_in(encoding, _MARKS[finding.status]), fg=_COLOURS[finding.status])
    indent = " " * len(_in(encoding, _MARKS[finding.status]))
    rows = [f"{mark} {_in(encoding, one_line(f'{finding.name}: {finding.found}'))}"]
    if finding.advice:
        rows.append(f"{indent} {_in(encoding, one_line(f'{_ARROW} {finding.advice}'))}")
    return "\n".join(rows)


def verdict(findings: Sequence[Finding]) -> str:
    """Format the last line: how many checks failed."""
    failed = sum(each.status is Status.FAILED for each in findings)
    return f"{plural(failed, 'check')} of {len(findings)} failed." if failed else "All is well."


def as_json(findings: Iterable[Finding]) -> str:
    """Format the findings as a list for scripts: name, status (ok, failed or note), found, advice."""
    return json.dumps([asdict(each) for each in findings], indent=2)


def _in(encoding: str, text: str) -> str:
    """Return the text with replacements for what a terminal of that encoding can't show."""
    try:
        "".join((*_MARKS.values(), _ARROW, "…")).encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN)
    return text.encode(encoding, "replace").decode(encoding)
