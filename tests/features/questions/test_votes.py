import json
import logging
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest
from redis import Redis

from bot.app import App
from bot.errors import StoreUnavailable
from bot.features.questions.rules import Citation, RememberedMessage
from bot.features.questions.service import ANSWER_DRAFT_JSON, AnswerDraft
from bot.features.questions.view import (
    INPUTS,
    VOTES,
    AnswerInputs,
    AnswerOutcome,
    NumberedCitation,
    ToolExchange,
    Vote,
    format_vote,
    iterate_votes,
    list_channels_of_votes,
    record_vote,
)
from bot.platform.slack.blocks import FeedbackVerdict
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.connection import pack_value
from bot.usage import Usage
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON
from tests.helpers.doubles import slack_request

CHANNEL, MESSAGE = "C0DIGEST", "101.000000"
GOOD, BAD = FeedbackVerdict.GOOD, FeedbackVerdict.BAD
ADA, GRACE = slack_request(), slack_request(user="U0GRACE")
ASKED = AnswerInputs(
    question="Größe?",
    repository="octo/engine",
    days="2026-02-28",
    numbers=(7,),
    thread=(RememberedMessage("person", "Who?"),),
    answer="`x`",
)
WRITTEN = replace(
    ASKED,
    model="claude",
    prompt="answer.v1",
    rounds=2,
    usage=Usage(input=3, output=2),
    exchanges=(ToolExchange("search", {"any_of": ["x"]}, "#7"),),
    citations=(NumberedCitation("#7", "a.py", "x = 1", 3, number=7),),
    failed_citations=(Citation("#7", "a.py", "x = 1", 3),),
    note="cut",
)


@dataclass
class Replies:
    heard: list[str] = field(default_factory=list)

    def tell_asker(self, asker: SlackRequest, sentence: str) -> None:
        self.heard.append(sentence)


@pytest.fixture
def app(store: Redis) -> App:
    app = make_app(store, replies=Replies())
    app.now = lambda: NOON
    app.tables.put(INPUTS, WRITTEN, CHANNEL, MESSAGE)
    return app


def vote_for(app: App, asker: SlackRequest, verdict: FeedbackVerdict, message: str = MESSAGE) -> str:
    record_vote.run(app, asker, message, verdict)
    return str(app.replies.heard[-1])  # type: ignore[attr-defined]


def test_a_vote_is_kept_for_good_and_its_answer_for_a_month(app: App, store: Redis) -> None:
    assert vote_for(app, ADA, GOOD) == "Thanks, saved for the people who run this bot."
    (vote,) = iterate_votes(app)
    assert (vote.verdict, vote.at, vote.user, vote.exchanges) == (GOOD, NOON, "U0ASKER", WRITTEN.exchanges)
    assert store.ttl("votes") == -1
    assert 29 * 86_400 < store.ttl(f"answered:{CHANNEL}:{MESSAGE}") <= 30 * 86_400


def test_each_person_has_one_vote_on_each_answer(app: App) -> None:
    app.tables.put(INPUTS, AnswerInputs(question="When?"), CHANNEL, "102.000000")
    vote_for(app, ADA, GOOD)
    assert vote_for(app, ADA, BAD).endswith("What was wrong? Reply here, and I answer again.")
    vote_for(app, GRACE, BAD)
    vote_for(app, ADA, BAD, "102.000000")
    cast = {(vote.user, vote.question, vote.verdict) for vote in iterate_votes(app)}
    assert cast == {("U0ASKER", "Größe?", BAD), ("U0GRACE", "Größe?", BAD), ("U0ASKER", "When?", BAD)}
    assert list_channels_of_votes(app, "U0GRACE") == {CHANNEL}
    assert list_channels_of_votes(app, "U0") == set()


@pytest.mark.parametrize(("channel", "message"), [(CHANNEL, "999.000000"), ("C0OTHER", MESSAGE)])
def test_a_vote_on_an_answer_that_is_no_longer_known_is_not_kept(app: App, channel: str, message: str) -> None:
    told = vote_for(app, slack_request(channel=channel), GOOD, message)
    assert told == "That answer is too old to rate: ask again, then vote."
    assert list(iterate_votes(app)) == []


def test_a_vote_that_can_not_be_read_is_left_out_and_logged(
    app: App, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    vote_for(app, ADA, GOOD)
    store.hset("votes", "C1:1:U1", b"no vote")
    with caplog.at_level(logging.WARNING):
        assert len(list(iterate_votes(app))) == 1
    assert "can't be read" in caplog.text
    store.hset("votes", "C1:1:U1", pack_value('{"version": 3, "verdict": "good"}'))
    with pytest.raises(StoreUnavailable):
        list(iterate_votes(app))


# --- what people read of them

_CITATION = {"pull": "#7", "path": "a.py", "quote": "x = 1", "line": 3, "is_removed": False}
_QUESTION = {
    "verdict": "good",
    "at": "2026-03-01T09:00:13.791469-08:00",
    "user": "U0ADA",
    "question": "Größe?",
    "repository": "octo/engine",
    "days": "2026-02-28",
    "numbers": [7],
    "thread": [{"by": "person", "text": "Who?", "is_short": False}],
    "answer": "`x`",
}
_WORK = {
    "model": "claude",
    "prompt": "answer.v1",
    "rounds": 2,
    "usage": {"input": 3, "output": 2, "cache_read": 0, "cache_write": 0, "cache_write_hour": 0},
    "exchanges": [{"tool": "search", "arguments": {"any_of": ["x"]}, "result": "#7"}],
    "citations": [{**_CITATION, "number": 7}],
    "quoted": [],
    "failed_citations": [_CITATION],
    "note": "cut",
}
# the lines that people read, and what they are of
LINES: dict[str, tuple[dict[str, Any], AnswerInputs]] = {
    "written": (_QUESTION | _WORK, WRITTEN),
    "refused": (
        _QUESTION | {"refused": "No model."},
        replace(ASKED, outcome=AnswerOutcome.REFUSED, reason="No model."),
    ),
    "failed": (_QUESTION | {"failed": "late"}, replace(ASKED, outcome=AnswerOutcome.FAILED, reason="late")),
}


@pytest.mark.parametrize(("line", "inputs"), LINES.values(), ids=LINES)
def test_a_vote_is_printed_as_it_was_stored_with_the_time_of_its_process(
    line: dict[str, Any], inputs: AnswerInputs
) -> None:
    fields = {name: getattr(inputs, name) for name in AnswerInputs.__dataclass_fields__}
    vote = Vote(verdict=GOOD, at=datetime.fromisoformat(_QUESTION["at"]), user="U0ADA", **fields)  # type: ignore[arg-type]
    assert json.dumps(format_vote(VOTES.codec.load_text(VOTES.codec.dump_text(vote)))) == json.dumps(line)
    assert INPUTS.codec.load_text(INPUTS.codec.dump_text(inputs)) == inputs
    draft = AnswerDraft("`x`", "x", [{"type": "context", "elements": []}], inputs)
    assert ANSWER_DRAFT_JSON.load_text(ANSWER_DRAFT_JSON.dump_text(draft)) == draft
