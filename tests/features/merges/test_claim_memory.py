"""A text is searched once for what it reverts, and another text of the same pull request is another text."""

from collections import Counter
from dataclasses import replace

from bot.features.merges.outcomes import ClaimMemory
from bot.platform.pulls.models import PullRequest
from impact.history.reverts import Revert, parse_claim
from impact.repository import Repository
from tests.helpers.builders import NOON, pull
from tests.helpers.calls import counting
from tests.helpers.tables import check_rows

COUNT = pull(5, title="Count the tokens once")
UNDO = pull(9, title="Revert a change", body="Reverts #5", merged_at=NOON.replace(hour=20))


def count_parses(memory: ClaimMemory, *pulls: PullRequest) -> Counter[tuple[str, int]]:
    with counting(parse_claim) as counts:
        for each in pulls:
            assert memory.get_claim(each) == parse_claim(each)
    # the one of the comparison aside
    return counts - Counter(("parse_claim", each.number) for each in pulls)


@check_rows(
    {
        "the same": (UNDO, 1),
        "without files": (replace(UNDO, files=None), 1),
        "another title": (replace(UNDO, title="Revert the change"), 2),
        "a description that was cut": (replace(UNDO, body="Rev"), 2),
        "another message": (replace(UNDO, commit_message="Reverts octo/engine#5"), 2),
        "another repository": (replace(UNDO, repository=Repository("octo", "tools")), 2),
        "another server": (replace(UNDO, web="https://git.example.com"), 2),
    }
)
def test_the_same_texts_are_searched_once_and_others_again(other: PullRequest, times: int) -> None:
    assert count_parses(ClaimMemory(), UNDO, other) == Counter({("parse_claim", 9): times})


def test_the_oldest_texts_are_forgotten() -> None:
    memory = ClaimMemory(most=2)
    titled = [pull(number, title=f"Change {number}") for number in (1, 2, 3)]
    assert sum(count_parses(memory, *titled).values()) == 3
    assert count_parses(memory, titled[2], titled[1]) == Counter()
    assert count_parses(memory, titled[0]) == Counter({("parse_claim", 1): 1})


def test_indexes_with_merges_in_common_share_the_search() -> None:
    memory = ClaimMemory()
    with counting(parse_claim) as counts:
        indexes = [memory.index_pulls(pulls) for pulls in ([UNDO, COUNT], [UNDO], [UNDO, COUNT])]
    assert [index.reverts for index in indexes] == [(Revert(5, 9),), (), (Revert(5, 9),)]
    assert counts == Counter({("parse_claim", 5): 1, ("parse_claim", 9): 1})
