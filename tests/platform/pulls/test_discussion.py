from datetime import UTC, datetime

from bot.platform.pulls.models import Account
from bot.platform.pulls.sources import Discussion, Remark, RemarkKind, Role, shorten_remarks
from tests.helpers.builders import REPOSITORY

AT = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
COMMENT = RemarkKind.COMMENT


def remark(
    text: str, role: Role = Role.OTHER, kind: RemarkKind = COMMENT, anchor: str = "issuecomment-1"
) -> Remark:
    return Remark(anchor, kind, Account("bob"), role, AT, text)


def test_commands_bots_and_silence_are_noise() -> None:
    rows = [
        ("/retest", Role.MEMBER, COMMENT, True),
        ("/gemini review", Role.AUTHOR, COMMENT, True),
        ("@mergify rebase", Role.MEMBER, COMMENT, True),
        (" @dora \n", Role.MEMBER, COMMENT, True),
        ("<!-- filled in later -->", Role.MEMBER, COMMENT, True),
        ("", Role.MEMBER, RemarkKind.REVIEW, True),
        ("All tests pass.", Role.BOT, COMMENT, True),
        ("All tests pass.", Role.BOT, RemarkKind.ISSUE, False),
        ("", Role.OTHER, RemarkKind.ISSUE, False),
        ("", Role.MEMBER, RemarkKind.APPROVAL, False),
        ("", Role.MEMBER, RemarkKind.REFUSAL, False),
        ("No.", Role.OTHER, COMMENT, False),
        ("@dora, should we keep the old default?", Role.MEMBER, COMMENT, False),
        ("/etc/hosts is not read any more, by design", Role.MEMBER, COMMENT, False),
        ("/retest\nWe keep the default.", Role.MEMBER, COMMENT, False),
    ]
    wrong = [row for row in rows if remark(*row[:3]).is_noise is not row[3]]
    assert wrong == []


def test_the_newest_of_members_and_the_author_come_first_in_the_given_room() -> None:
    remarks = tuple(
        remark("x" * 80, role, kind, f"issuecomment-{number}")
        for number, (role, kind) in enumerate(
            [
                (Role.OTHER, RemarkKind.ISSUE),
                (Role.MEMBER, COMMENT),
                (Role.OTHER, COMMENT),
                (Role.AUTHOR, COMMENT),
                (Role.OTHER, COMMENT),
            ]
        )
    )
    for most, kept in [
        (0, []),
        (200, [0]),
        (400, [0, 3]),
        (600, [0, 1, 3]),
        (800, [0, 1, 3, 4]),
        (1_000, range(5)),
    ]:
        assert shorten_remarks(remarks, most) == tuple(remarks[number] for number in kept), most


def test_addresses_are_those_of_the_pull_request() -> None:
    discussion = Discussion(REPOSITORY, 7, "Wait", web="https://git.example.org")
    page = "https://git.example.org/octo/engine"
    assert discussion.build_remark_url(remark("x")) == f"{page}/pull/7#issuecomment-1"
    assert discussion.build_remark_url(remark("x", kind=RemarkKind.ISSUE, anchor="issue-9")) == f"{page}/issues/9"
