"""The answers to ``/prdigest touches``: accepted whatever their texts, and true about what was said."""

from bot.dates import Span
from bot.features.merges.summary import Evidence, build_evidence_url
from bot.features.touches.decisions import LevelScore
from bot.features.touches.lines import HitContext, TouchVerdict
from bot.features.touches.view import MAX_ROWS, render_touch_list, render_touch_score
from bot.platform.slack import terminal
from bot.platform.slack.blocks import Post
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract, cover_contracts
from impact.coverage import CoveredList, UnreadFile
from impact.profile.models import Use, UseKind
from impact.source.models import DiffSide
from impact.touches.models import MergeTouches, Touch, TouchLevel, TouchReport
from tests.helpers.builders import DAY, NOON, pull
from tests.platform.slack.accepted import assert_taken

SPAN = Span(DAY.date, DAY.date, DAY.zone)
CHANGE = ContractChange(
    ContractClass.FUNCTION, ChangeKind.REMOVED, "engine.run", "def run()", "", "engine/a.py", 3, DiffSide.OLD
)
USE = Use(UseKind.CALL, "engine.run", "plugin/worker.py", 7, "run()")
TOUCH = Touch(TouchLevel.BREAKS, CHANGE, (USE,), "it was removed", 0.9, "call engine.walk")


def render_hits(*hits: MergeTouches, unread: tuple[UnreadFile, ...] = ()) -> Post:
    pulls = tuple(pull(hit.number) for hit in hits)
    contract = MergeContract(1, "c" * 40, NOON, files=("engine/a.py",), unread=unread)
    report = TouchReport("ascend", 31, 412, CoveredList(hits, cover_contracts([contract])))
    verdicts = {7: (TouchVerdict.OURS, TouchVerdict.DONE), 99: (TouchVerdict.NOT_US,)}
    post = render_touch_list("What touches plugin · Engine", report, HitContext.build(pulls, ()), verdicts)
    lines = {
        build_evidence_url(each, Evidence(touch.change.path, "", touch.change.side, touch.change.line))
        for each, hit in zip(pulls, hits, strict=True)
        for touch in hit.touches
    }
    assert_taken(post, lines | {each.url for each in pulls})
    return post


def make_hit(number: int, touch: Touch = TOUCH) -> MergeTouches:
    return MergeTouches(number, f"Change {number}", "c0ffee", touch.level, touch.score, (touch,))


def read(post: Post) -> str:
    return terminal.format_message(post)


def test_each_hit_has_the_teams_line_and_what_was_said() -> None:
    post = render_hits(*(make_hit(number) for number in range(15, 5, -1)))
    text = read(post)
    assert "plugin/worker.py:7" in text
    # the strongest have buttons, and what was said about those is below them
    rows = [block for block in post.blocks if str(block.get("block_id", "")).startswith("hit-")]
    assert [len(row["elements"]) for row in rows] == [5] * MAX_ROWS
    assert "What became of them: #7 ours to do, done" in text
    assert "#99" not in text


def test_that_nothing_touches_is_said_with_what_was_checked() -> None:
    assert "Nothing touches ascend (31 merges, 412 uses checked)" in read(render_hits())


def test_what_could_not_be_read_is_said() -> None:
    text = read(render_hits(unread=(UnreadFile("engine/x.py", "it is too large"),)))
    assert "I couldn't read 1 of 2 changed files (x.py: it is too large), so I can't tell." in text
    assert "Nothing" not in text
    assert "Nothing touches" in read(render_hits(unread=(UnreadFile("engine/x.png", "it is binary"),)))


def test_the_score_counts_by_level() -> None:
    scores = (LevelScore(TouchLevel.BREAKS, 5, 2, 1, 1), LevelScore(TouchLevel.TOUCHES))
    post = render_touch_score("ascend", scores)
    assert_taken(post, ())
    text = read(post)
    assert "breaks us: 5 warnings (2 ours to do, 1 done, 1 not us, 1 open); 3 of 4 were right" in text
    assert "touches: none shown" in text
    assert "No warning was shown for this profile yet." in read(render_touch_score("ascend", ()))


def test_hits_without_buttons_are_a_table_with_what_was_said() -> None:
    post = render_hits(*(make_hit(number) for number in range(20, 5, -1)))
    (table,) = [block for block in post.blocks if block["type"] == "data_table"]
    assert len(table["rows"]) == 1 + 15 - MAX_ROWS
    text = read(post)
    assert "  • #7 · ours to do, done · plugin/worker.py:7 · breaks: it was removed (a.py:3)" in text
    # below the table, as a cell has no room for it
    assert "  • #7 Hint: call engine.walk." in text
    assert text.count("#7 ") == 2
    assert "What became of them" not in text
