"""A merge into another branch than the default one says so wherever it is shown, and is judged nowhere."""

from dataclasses import replace

from bot.dates import Span
from bot.features.digest.lead import render_lead
from bot.features.digest.rules import Digest
from bot.features.digest.thread import render_thread
from bot.features.digest.view import render_report
from bot.features.merges.risk import Risk
from bot.features.merges.view import render_reference
from bot.features.questions.texts import format_line
from bot.features.summaries.view import format_summary, render_details, render_summary
from bot.features.touches.contracts import list_own_merges
from bot.features.touches.lines import describe_elsewhere
from bot.platform.github.pulls import parse_pull_request
from impact.contract.models import ContractClass
from tests.features.digest.hostile_days import TOKENS
from tests.features.touches.touched_days import change, contract
from tests.helpers.apps import make_digest_app
from tests.helpers.builders import DAY, REPOSITORY, digest, entry, pull, summary
from tests.helpers.doubles import KnownPulls
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_accepted, read_post, strings

BRANCH = "releases/v1.2"
RISKY = Risk(20, ("adds 400 lines",))
GONE = change(subject=ContractClass.FUNCTION, name="engine.core.stop")


def split_day(base: str = BRANCH) -> Digest:
    """Two risky merges that remove something and ask for something, of which one went into another branch."""
    asking = summary(action="Set the flag")
    entries = [
        replace(entry(number, entry_summary=asking, base=branch), risk=RISKY)
        for number, branch in ((7, base), (6, "main"))
    ]
    return digest(*entries, contracts=(contract(7, GONE), contract(6, GONE)))


def test_lead_thread_and_report_name_the_branch() -> None:
    day = split_day()
    assert f"merged into {BRANCH}: #7" in read_post(render_lead(day))
    (post,) = render_thread(day)
    assert f"merged 11:53 into {BRANCH} by merge-bot" in read_post(post)
    report = render_report(day)
    assert report.count(f"- **Merged Into:** {BRANCH}") == report.count("Merged Into") == 1


def test_it_is_no_risk_breaks_nobody_and_asks_for_nothing() -> None:
    day = split_day()
    assert [each.number for each in day.riskiest_entries] == [6]
    assert [merge.number for merge in day.breaking] == [6]
    assert [action.number for action in day.actions] == [6]


def test_a_summary_its_window_and_what_the_model_reads_name_the_branch() -> None:
    made = entry(7, base=BRANCH)
    texts = [format_summary(made), read_post(render_summary(made)), str(render_details(made)), format_line(made)]
    assert [f" into {BRANCH}" in text for text in texts] == [True] * 4
    assert not any(" into " in text for text in (format_summary(entry(7)), format_line(entry(7))))


def test_lists_name_the_branch() -> None:
    assert "".join(strings(render_reference(pull(7, base=BRANCH)))).endswith(f"#7 Change number 7 (into {BRANCH})")
    assert describe_elsewhere([pull(7, base=BRANCH)]) == f"not judged: #7 (into {BRANCH})"
    many = describe_elsewhere([pull(number, base=BRANCH) for number in range(6)])
    assert many.endswith(" and 2 more")


@check_rows(
    {
        "another branch": ({"defaultBranchRef": {"name": "trunk"}}, "main", "main"),
        "the default branch, whatever its name": ({"defaultBranchRef": {"name": "trunk"}}, "trunk", ""),
        "an empty repository": ({"defaultBranchRef": None}, "main", ""),
        "nothing said": ({}, "main", ""),
        "nonsense": ({"defaultBranchRef": {"name": ["x"]}}, "main", ""),
    }
)
def test_the_source_names_the_default_branch(place: dict[str, object], base: str, other: str) -> None:
    node = {"repository": {"id": "R", **place}, "baseRefName": base}
    assert parse_pull_request(REPOSITORY, node, 7).other_branch == other


@check_rows([*TOKENS, "x" * 300])
def test_the_name_of_a_branch_is_literal(token: str) -> None:
    day = split_day(f"x{token}")
    assert_accepted(render_lead(day), day)
    for post in render_thread(day):
        assert_accepted(replace(post, blocks=tuple(each for each in post.blocks if "sched" not in str(each))), day)


def test_contract_lists_hits_and_suspects_are_those_of_the_default_branch() -> None:
    app = make_digest_app(KnownPulls((pull(2, base=BRANCH), pull(1))))
    merged = list_own_merges(app, REPOSITORY, Span(DAY.date, DAY.date, DAY.zone))
    assert ([each.number for each in merged.pulls], merged.notes) == ([1], (f"not judged: #2 (into {BRANCH})",))
