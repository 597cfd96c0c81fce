"""Plans of messages as they are recorded."""

from __future__ import annotations

import json

import pytest

from bot.domain.errors import StoreUnavailable
from bot.ports import Attachment
from bot.render.digest.touches import name_verdict_row
from bot.services.digest.posting_plan import PostingPlan

LEAD = {"text": "octo/engine", "blocks": [{"type": "section"}]}
# a block that only mentions the id of the other
REPLY = {
    "text": "#7",
    "blocks": [{"type": "actions", "block_id": "hit-7"}, {"type": "section", "text": '"hit-8"'}],
}
PLAN = PostingPlan(
    LEAD, (REPLY,), Attachment("report.md", "Report", "# Report\n"), 3, ("facts",), "f1", outcome_states=("1",)
)


def test_a_plan_is_read_as_it_was_recorded_with_its_version() -> None:
    assert json.loads(PLAN.dump())["version"] == 1
    assert PostingPlan.load(PLAN.dump()) == PLAN


def test_a_plan_of_a_later_version_is_not_posted() -> None:
    with pytest.raises(StoreUnavailable):
        PostingPlan.load(json.dumps({"version": 2, "lead": LEAD, "thread": [], "attachment": None}))


@pytest.mark.parametrize(("number", "is_there"), [(7, True), (8, False), (70, False)])
def test_the_buttons_of_a_hit_are_known_by_their_block_alone(number: int, *, is_there: bool) -> None:
    plan = PostingPlan.load(PLAN.messages.dump())
    assert plan.has_block(name_verdict_row(number)) is is_there
