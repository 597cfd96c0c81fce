"""How many rows of each class are judged right: ``python -m tests.corpus [--write] [words of a row's name]``.

One column is by the rules alone, the other by them and the type checker. With words, it prints what is said of
each such row; ``--write`` writes the list of rows that are wrong.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from tests.corpus.rows import (
    JUDGES,
    KNOWN_WRONG,
    Row,
    extract_row,
    is_right,
    judge_row,
    list_row_touches,
    list_witnesses,
    list_wrong,
    read_rows,
)


def print_row(row: Row, folder: Path) -> None:
    click.echo(f"\n{row.full_name}: {row.verdict}")
    for change in extract_row(row).changes:
        click.echo(f"  row: {change.subject} {change.kind} {change.name} {change.before!r} -> {change.after!r}")
    witnesses = [None, *list_witnesses([row], folder)]
    for judge, witness in zip(JUDGES, witnesses, strict=True):
        level = judge_row(row, witness)
        bound = f"{'at most' if row.verdict == 'fine' else 'at least'} {row.level.label}"
        click.echo(f"  {judge}: {level.label}, {bound}: {'right' if is_right(row, level) else 'WRONG'}")
        for touch in list_row_touches(row, witness):
            click.echo(f"    {touch.level.label}: {touch.tell(touch.use)}")


def print_table(rows: Sequence[Row], wrong: Mapping[str, Sequence[str]]) -> None:
    heads = "".join(f"{f'right by {judge}':>16}{'missed':>8}{'false':>7}" for judge in JUDGES)
    click.echo(f"{'class':<28}{'rows':>6}{heads}")
    for group in [*dict.fromkeys(row.group for row in rows), "all"]:
        chosen = [row for row in rows if group in {row.group, "all"}]
        line = f"{group:<28}{len(chosen):>6}"
        for judge in JUDGES:
            failed = [row.verdict == "fine" for row in chosen if judge in wrong.get(row.full_name, ())]
            line += f"{len(chosen) - len(failed):>16}{failed.count(False):>8}{failed.count(True):>7}"
        click.echo(line)


def main(arguments: list[str], folder: Path) -> None:
    words = " ".join(each for each in arguments if not each.startswith("-"))
    rows = read_rows()
    if words:
        for number, row in enumerate(rows):
            if words in row.full_name:
                print_row(row, folder / str(number))
        return
    wrong = list_wrong(rows, list_witnesses(rows, folder / "all"))
    print_table(rows, wrong)
    if "--write" in arguments:
        lines = (f"{name} | {', '.join(judges)}\n" for name, judges in sorted(wrong.items()))
        KNOWN_WRONG.write_text("".join(lines))


with tempfile.TemporaryDirectory() as place:
    main(sys.argv[1:], Path(place))
