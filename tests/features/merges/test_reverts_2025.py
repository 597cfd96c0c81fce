import re
import time
from functools import cache

import pytest

from bot.features.merges.outcomes import RevertIndex, find_relands
from evals.reverts import Pack, load_pack
from impact.history.reverts import is_revert
from tests.helpers.builders import SHARED, needs_shared

pytestmark = needs_shared
# "Revert" with a title, a number or a number behind words: what names the pull request
_NAMES_IT = re.compile(r"\brevert\b.*(?:[\"\u201c]|#\d)|\brollback PR", re.I)


@cache
def pack() -> Pack:
    return load_pack(SHARED / "risk")


@cache
def index() -> RevertIndex:
    return RevertIndex(pack().pulls)


def test_no_pair_is_found_that_is_none() -> None:
    assert pack().reverts.false_positives == ()
    assert pack().repairs.false_positives == ()


@pytest.mark.slow
def test_of_87_as_many_are_found_as_titles_tell() -> None:
    reverts, repairs = pack().reverts, pack().repairs
    assert len({number for number, _ in reverts.expected}) == 87
    assert len({number for number, _ in reverts.correct}) >= 66
    assert len(repairs.expected) == 23
    assert len(repairs.correct) >= 22


@pytest.mark.slow
def test_every_revert_that_its_title_names_is_found() -> None:
    titles = {pull.number: pull.title for pull in pack().pulls}
    assert [pair for pair in pack().reverts.missed if _NAMES_IT.search(titles.get(pair[1], ""))] == []


def test_who_takes_something_back_is_a_revert() -> None:
    by = {number for _, number in pack().reverts.detected}
    assert all(is_revert(pull) for pull in pack().pulls if pull.number in by)


@pytest.mark.slow
def test_parts_are_known_as_parts() -> None:
    partial_numbers = {revert.number for revert in index().reverts if revert.is_partial}
    assert partial_numbers == {28271, 28819, 29558}


@pytest.mark.slow
def test_relands_tell_what_was_tried() -> None:
    attempts = {
        each.number: [(one.number, one.reverted_by) for one in each.attempts] for each in find_relands(index())
    }
    assert len(attempts) == 17
    # a revert of a revert, the same title, "(take 2)", "Reapply", "UNREVERT", "[Redo] #N"
    assert attempts[29179] == [(28875, 29159)]
    assert attempts[22951] == [(22538, 22948)]
    assert attempts[28319] == [(28012, 28289)]
    assert attempts[27768] == [(27598, 27714)]
    assert attempts[26502] == [(26113, 26472)]
    assert attempts[28771] == [(26368, 28773)]
    # found by reading only: the title of the revert names no change
    assert attempts[24357] == [(22628, None)]


@pytest.mark.slow
def test_a_year_is_read_in_a_second_or_so() -> None:
    pulls = pack().pulls
    before = time.process_time()
    RevertIndex(pulls)
    assert time.process_time() - before < 3
