"""Each verdict of the corpus is what happens, and is said by the rules and with the checker, but of known rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from impact.testing.clones import needs_checker, needs_git
from tests.corpus.rows import list_witnesses, list_wrong, prove_rows, read_known_wrong, read_rows

pytestmark = pytest.mark.slow


def test_what_a_row_says_happens_when_its_code_is_run(tmp_path: Path) -> None:
    rows = read_rows()
    proved = prove_rows(rows, tmp_path)
    wrong = [
        f"{row.full_name}: {verdict}" for row, verdict in zip(rows, proved, strict=True) if verdict != row.verdict
    ]
    assert not wrong, "\n".join(wrong)


def test_the_corpus_is_large_and_a_third_of_it_stays_silent() -> None:
    rows = read_rows()
    assert len(rows) >= 400
    assert len({row.full_name for row in rows}) == len(rows)
    assert sum(row.verdict == "fine" for row in rows) >= len(rows) / 3


def test_the_rules_are_right_about_all_rows_but_those_that_are_known() -> None:
    _compare("rules", list_wrong(read_rows()))


@needs_git
@needs_checker
def test_rules_and_checker_are_right_about_all_rows_but_those_that_are_known(tmp_path: Path) -> None:
    rows = read_rows()
    _compare("both", list_wrong(rows, list_witnesses(rows, tmp_path / "clone")))


def _compare(judge: str, judged: Mapping[str, Sequence[str]]) -> None:
    wrong, known = (
        {name for name, judges in each.items() if judge in judges} for each in (judged, read_known_wrong())
    )
    assert not wrong - known, "wrong now:\n" + "\n".join(sorted(wrong - known))
    assert not known - wrong, "right now, take them off known_wrong.txt:\n" + "\n".join(sorted(known - wrong))
