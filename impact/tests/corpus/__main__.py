"""How many rows of each class the rules get right: ``python -m tests.corpus [--write] [words of a row's name]``.

With words, it prints what is said of each such row; ``--write`` writes the list of rows that are wrong.
"""

import sys
from collections import Counter

import click

from tests.corpus.rows import KNOWN_WRONG, Row, extract_row, is_right, judge_row, list_row_touches, read_rows


def print_row(row: Row) -> None:
    level = judge_row(row)
    click.echo(f"\n{row.full_name}: {'right' if is_right(row, level) else 'WRONG'}")
    bound = "at most" if row.verdict == "fine" else "at least"
    click.echo(f"  {row.verdict}: {bound} {row.level.label}; the rules say {level.label}")
    for change in extract_row(row).changes:
        click.echo(f"  row: {change.subject} {change.kind} {change.name} {change.before!r} -> {change.after!r}")
    for touch in list_row_touches(row):
        click.echo(f"  {touch.level.label}: {touch.tell(touch.use)}")


def print_table(rows: list[Row], wrong: set[str]) -> None:
    click.echo(f"{'class':<28}{'rows':>6}{'right':>7}{'wrong':>7}{'missed':>8}{'false':>7}")
    groups = [*dict.fromkeys(row.group for row in rows), "all"]
    for group in groups:
        chosen = [row for row in rows if group in {row.group, "all"}]
        failed = Counter(row.verdict == "fine" for row in chosen if row.full_name in wrong)
        lost = failed.total()
        click.echo(
            f"{group:<28}{len(chosen):>6}{len(chosen) - lost:>7}{lost:>7}{failed[False]:>8}{failed[True]:>7}"
        )


def main(arguments: list[str]) -> None:
    words = " ".join(each for each in arguments if not each.startswith("-"))
    rows = read_rows()
    if words:
        for row in rows:
            if words in row.full_name:
                print_row(row)
        return
    wrong = {row.full_name for row in rows if not is_right(row, judge_row(row))}
    print_table(rows, wrong)
    if "--write" in arguments:
        KNOWN_WRONG.write_text("".join(f"{name}\n" for name in sorted(wrong)))


main(sys.argv[1:])
