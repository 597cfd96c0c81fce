from dataclasses import replace

import pytest

from bot.features.merges.summary import Quote, is_evidence, remove_unproven_claims, verify_quotes
from bot.features.questions.rules import Citation, verify_citation
from bot.features.questions.view import label_citation
from tests.helpers.builders import changed_file, pull, summary
from tests.helpers.tables import check_rows
from tests.hostile.tables.quotes import GOOD, PATCH, PATH, TRIVIAL, UNCHANGED

CHANGE = pull(7, files=[changed_file(PATH, patch=PATCH)])
CLAIM = summary(risk_reason="It may count twice.", action="Set the flag.")


def told_with(quote: str) -> tuple[str, str]:
    """The reason and the action that are left of a summary with this proof."""
    left = remove_unproven_claims(replace(CLAIM, evidence=verify_quotes([Quote(PATH, quote)], CHANGE)))
    return left.risk_reason, left.action


@check_rows(TRIVIAL)
def test_what_says_nothing_proves_nothing(quote: str) -> None:
    assert told_with(quote) == ("", "")
    assert verify_citation(Citation("7", PATH, quote), CHANGE) is None


@check_rows(UNCHANGED)
def test_what_was_there_before_proves_no_change_and_is_named_so(quote: str) -> None:
    assert told_with(quote) == ("", "")
    citation = verify_citation(Citation("7", PATH, quote), CHANGE)
    assert citation is not None
    assert label_citation(CHANGE, citation)[0].endswith(" (unchanged)")


@check_rows(GOOD)
def test_what_says_something_of_the_change_proves_it(quote: str) -> None:
    assert told_with(quote) == (CLAIM.risk_reason, CLAIM.action)
    citation = verify_citation(Citation("7", PATH, quote), CHANGE)
    assert citation is not None
    assert citation.is_change


def test_what_stands_there_twice_is_found_where_it_was_changed() -> None:
    patch = "@@ -1,2 +1,3 @@\n release_blocks(now)\n+wait_for(all_of_them)\n+release_blocks(now)"
    (quote,) = verify_quotes([Quote(PATH, "release_blocks(now)")], pull(files=[changed_file(PATH, patch=patch)]))
    assert quote.line == 3


@pytest.mark.parametrize("quote", ["計算する = 合計", "größe = breite", "naïve_count"])
def test_words_of_any_language_count(quote: str) -> None:
    assert is_evidence(quote)
