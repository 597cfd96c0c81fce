"""Plans of messages as they are recorded, also as earlier versions recorded them."""

from __future__ import annotations

import json

import pytest

from bot.domain.errors import StoreUnavailable
from bot.ports import Attachment
from bot.render.digest.hits import name_verdict_row
from bot.services.digest.posting_plan import PostingPlan

LEAD = {"text": "octo/engine", "blocks": [{"type": "section"}]}
# a block that only mentions the id of the other
REPLY = {
    "text": "#7",
    "blocks": [{"type": "actions", "block_id": "hit-7"}, {"type": "section", "text": '"hit-8"'}],
}
FILE = {"name": "report.md", "title": "Report", "text": "# Report\n"}
PLAN = PostingPlan(
    LEAD, (REPLY,), Attachment("report.md", "Report", "# Report\n"), 3, ("facts",), "f1", told=("1",)
)

UNMARKED = {
    "before-fingerprints": (
        {"lead": LEAD, "thread": [REPLY], "attachment": None},
        PostingPlan(LEAD, (REPLY,), None),
    ),
    "whole": (
        {
            "lead": LEAD,
            "thread": [REPLY],
            "attachment": FILE,
            "merged": 3,
            "gaps": ["facts"],
            "fingerprint": "f1",
            "ratings": "",
            "told": ["1"],
            "mark": "",
        },
        PLAN,
    ),
}


@pytest.mark.parametrize(("fields", "plan"), UNMARKED.values(), ids=UNMARKED)
def test_a_plan_without_a_version_is_read(fields: dict[str, object], plan: PostingPlan) -> None:
    assert PostingPlan.load(json.dumps(fields)) == plan
    assert PostingPlan.load(plan.dump()) == plan


def test_a_plan_is_recorded_with_its_version() -> None:
    fields = json.loads(PLAN.dump())
    assert fields["version"] == 1
    # a process of the version before needs these
    assert {"lead", "thread", "attachment"} < fields.keys()
    assert json.loads(PostingPlan(LEAD, (), None).dump())["attachment"] is None


def test_a_plan_of_a_later_version_is_not_posted() -> None:
    with pytest.raises(StoreUnavailable):
        PostingPlan.load(json.dumps({"version": 2, "lead": LEAD, "thread": [], "attachment": None}))


@pytest.mark.parametrize(("number", "is_there"), [(7, True), (8, False), (70, False)])
def test_the_buttons_of_a_hit_are_known_by_their_block_alone(number: int, *, is_there: bool) -> None:
    plan = PostingPlan.load(PLAN.messages.dump())
    assert plan.has_block(name_verdict_row(number)) is is_there
