from typing import Any

import pytest

from bot.platform.commands import AllowedRepositories
from bot.platform.slack.requests import find_pull_requests
from impact.repository import Repository
from tests.helpers.tables import check_rows

REPOSITORIES = AllowedRepositories(Repository("octo", "engine"), (Repository("octo", "part.2"),))
WEB = "https://github.com"
Json = dict[str, Any]


def find_references(message: Json) -> list[str]:
    return [str(reference).removeprefix("octo/") for reference in find_pull_requests(message, REPOSITORIES)]


@check_rows(
    [
        ("nothing, not even 35617", []),
        ("see #5 and PR 6, (#7)", ["engine#5", "engine#6", "engine#7"]),
        ("octo/part.2#5, OCTO/Engine#6", ["part.2#5", "engine#6"]),
        (f"<{WEB}/octo/engine/pull/5>", ["engine#5"]),
        (f"<{WEB}/octo/engine/pull/5/files?w=1&amp;x#diff-1|the diff>", ["engine#5"]),
        (f"{WEB}/octo/part.2/pull/5.", ["part.2#5"]),
        ("#5 #5 octo/engine#5", ["engine#5"]),
        (f"#9 <{WEB}/octo/engine/pull/8|x> #7", ["engine#9", "engine#8", "engine#7"]),
        # other repositories, and what only looks like one of ours
        ("other/secret#5", []),
        (f"<{WEB}/other/secret/pull/5|#5>", []),
        (f"<{WEB}/other/secret/pull/5> fixes #5 and #6", ["engine#6"]),
        (f"<{WEB}/octo/part.2/pull/5|#5>", ["part.2#5"]),
        ("<https://github.com.evil.example/octo/engine/pull/5>", []),
        ("<https://evil.example/github.com/octo/engine/pull/5>", []),
        ("<http://github.com/octo/engine/pull/5>", []),
        (f"<{WEB}/octo/engine/issues/5|#5>", []),
        ("<https://ci.example/builds/5|#5 failed>", []),
        ("<https://ci.example/builds/5|octo/engine#6 failed>", ["engine#6"]),
        # what is no number of a pull request
        ("#0 #1234567890 #12ab <#C012|general> <@U5> &#5;", []),
        ("&lt;https://github.com/octo/engine/pull/5&gt;", ["engine#5"]),
    ]
)
def test_what_a_text_names(text: str, named: list[str]) -> None:
    assert find_references({"text": text}) == named


def test_blocks_and_attachments_are_read_after_the_text_each_once() -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": f"*#2* <{WEB}/octo/engine/pull/3|x>"}}
    link = {"type": "link", "url": f"{WEB}/octo/engine/pull/4", "text": "#99"}
    rich = {"type": "rich_text_section", "elements": [link, {"type": "text", "text": " and #1, #5"}]}
    cells = [[{"type": "raw_text", "text": "PR"}], [{"type": "raw_text", "text": "#6"}]]
    attachment = {
        "fallback": "[octo/engine] #77 opened",
        "title": "#78 Faster",
        "title_link": f"{WEB}/octo/engine/pull/7",
        "fields": [{"title": "Also", "value": f"<{WEB}/octo/engine/pull/8>", "short": True}],
        "blocks": [section],
    }
    blocks = [section, {"type": "rich_text", "elements": [rich]}, {"type": "table", "rows": cells}]
    message = {"text": "octo/engine#1", "blocks": blocks, "attachments": [attachment]}
    assert find_references(message) == [f"engine#{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8)]


def test_what_no_reader_sees_names_nothing() -> None:
    button = {
        "type": "button",
        "action_id": "octo/engine#1",
        "value": "octo/engine#2",
        "text": {"type": "plain_text", "text": "Open"},
    }
    option = {"text": {"type": "plain_text", "text": "x"}, "value": "octo/engine#3"}
    select = {"type": "static_select", "options": [option]}
    message = {
        "text": "",
        "metadata": {"event_payload": {"text": "octo/engine#4"}},
        "files": [{"title": "octo/engine#5"}],
        "blocks": [{"type": "actions", "block_id": "octo/engine#6", "elements": [button, select]}],
    }
    assert find_references(message) == []


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"text": None, "blocks": None, "attachments": None},
        {"text": 7, "blocks": 7, "attachments": "octo/engine#1"},
        {"text": ["#1"], "blocks": {"type": "x"}, "attachments": [7, None, ["#1"], {"text": {"a": 1}}]},
    ],
)
def test_fields_of_another_shape_name_nothing(message: Json) -> None:
    assert find_references(message) == []


@pytest.mark.slow
def test_very_deep_very_long_and_very_many_are_read_up_to_a_bound() -> None:
    deep: Json = {"text": "#2"}
    for _ in range(50_000):
        deep = {"elements": [deep]}
    assert find_references({"text": "#1", "blocks": [deep]}) == ["engine#1"]
    assert find_references({"text": f"#1 {'x' * 100_000} #2"}) == ["engine#1"]
    many = [{"type": "text", "text": f"#{number}"} for number in range(1, 50_000)]
    assert find_references({"blocks": many}) == [f"engine#{number}" for number in range(1, 301)]
