"""The weights of the rank, fitted again, and the months that they are left out of."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from benchmarks.months import MonthCase, add_options, fit_weights, measure_months, measure_order
from benchmarks.table import Table
from impact.touches.judgement import estimate_chance
from impact.touches.models import RankFigures

BREAKS, TOUCHES, UNUSED = RankFigures(True, False, 2, 9, 5), RankFigures(False, False, 1, 30, 8), RankFigures()


def make_cases(month: str, figures: RankFigures, named: int, others: int) -> list[MonthCase]:
    return [MonthCase(month, 0, figures, figures.breaks, place < named) for place in range(named + others)]


def test_fitted_chances_are_the_shares_that_were_named() -> None:
    cases = [*make_cases("2026-01", BREAKS, 6, 4), *make_cases("2026-01", TOUCHES, 2, 18)]
    weights = fit_weights([*cases, *make_cases("2026-01", UNUSED, 3, 50)])
    assert [round(estimate_chance(each, weights), 3) for each in (BREAKS, TOUCHES, UNUSED)] == [0.6, 0.1, 0.0]


def test_as_many_are_shown_as_now_and_what_breaks_comes_first() -> None:
    cases = [*make_cases("2026-01", TOUCHES, 1, 0), *make_cases("2026-01", BREAKS, 1, 1)]
    row = measure_order(cases, [0.9, 0.2, 0.1])
    assert (row.precision, row.auc, row.shown) == (1.0, 1.0, 0.5)
    assert measure_order(cases, [0.1, 0.9, 0.8]).auc == 0.5


def test_each_month_is_ranked_by_weights_of_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "pr,date,window,level,score,breaks,may_break,names,uses,changes,change,use\n"
    # what breaks is named in the first month and is not in the second: left out, they contradict each other
    rows = [
        f"{month}{place:02},2026-{month:02}-01,{month},breaks,0.5,{int(place < 10)},0,2,9,5,,\n"
        for month in (1, 2)
        for place in range(20)
    ]
    named = [*range(100, 108), 119, *range(212, 219), 201]
    (tmp_path / "cases.csv").write_text(head + "".join(rows))
    (tmp_path / "truth.csv").write_text("upstream_pr\n" + "".join(f"{each}\n" for each in named))
    parser, table = ArgumentParser(), Table()
    add_options(parser)
    measure_months(
        table, parser.parse_args([f"--cases={tmp_path / 'cases.csv'}", f"--truth={tmp_path / 'truth.csv'}"])
    )
    lines = capsys.readouterr().out.splitlines()
    auc = {line[:29].strip(): float(line.partition("AUC ")[2][:5]) for line in lines if "AUC" in line}
    assert auc["2026-01 weights in the code"] > 0.8
    assert auc["2026-01 fitted to the others"] < 0.2
    assert auc["2026-02 fitted to the others"] < 0.2
    assert "all     fitted to the others" in auc
    assert not table.missed
