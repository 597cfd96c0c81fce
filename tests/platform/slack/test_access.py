import pytest

from bot.errors import StoreUnavailable
from bot.platform.slack.directory import AccessControl, AccessRules
from bot.platform.slack.requests import SlackRequest
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import CountingLimiter, slack_request

OWN = AccessRules(frozenset({"T0TEAM"}))
SHARED = AccessRules(frozenset({"T0TEAM", "T0PARTNER", "E0GRID"}))
CHANNELS = AccessRules(frozenset({"T0TEAM"}), channels=frozenset({"C0DIGEST", "C0OTHER"}))
USERS = AccessRules(frozenset({"T0TEAM"}), users=frozenset({"U0ASKER"}))
BOTH = AccessRules(frozenset({"T0TEAM"}), frozenset({"C0DIGEST"}), frozenset({"U0ASKER"}))
PARTNER = {"team": "T0PARTNER"}

ADMITTED: dict[str, tuple[AccessRules, SlackRequest]] = {
    "own workspace": (OWN, slack_request()),
    "own workspace in an organisation": (OWN, slack_request(enterprise="E0ELSE")),
    "an allowed workspace": (SHARED, slack_request(**PARTNER)),
    "any workspace of an allowed organisation": (SHARED, slack_request(team="T0UNKNOWN", enterprise="E0GRID")),
    "an allowed channel": (CHANNELS, slack_request()),
    "another allowed channel": (CHANNELS, slack_request(channel="C0OTHER")),
    "anybody in an allowed channel": (CHANNELS, slack_request(user="U0ELSE")),
    "somebody in App Home, which is no channel": (CHANNELS, slack_request(channel="")),
    "an allowed person": (USERS, slack_request()),
    "an allowed person in any channel": (USERS, slack_request(channel="D0DIRECT")),
    "an allowed person in an allowed channel": (BOTH, slack_request()),
}
REFUSED: dict[str, tuple[AccessRules, SlackRequest, str]] = {
    "another workspace": (OWN, slack_request(**PARTNER), "workspace"),
    "another organisation": (OWN, slack_request(team="T0ELSE", enterprise="E0GRID"), "workspace"),
    "a workspace like an allowed one": (SHARED, slack_request(team="T0PARTNER2"), "workspace"),
    "a workspace in other letters": (SHARED, slack_request(team="t0partner"), "workspace"),
    "an organisation's id as a channel": (SHARED, slack_request(team="T0ELSE", channel="E0GRID"), "workspace"),
    "another channel": (CHANNELS, slack_request(channel="C0ELSE"), "channel"),
    "direct messages": (CHANNELS, slack_request(channel="D0DIRECT"), "channel"),
    "another person": (USERS, slack_request(user="U0ELSE"), "you"),
    "nobody": (USERS, slack_request(user=""), "you"),
    "an allowed person in another channel": (BOTH, slack_request(channel="C0ELSE"), "channel"),
    "another person in an allowed channel": (BOTH, slack_request(user="U0ELSE"), "you"),
    "an allowed person of another workspace": (BOTH, slack_request(**PARTNER), "workspace"),
    "nobody at all is allowed": (AccessRules(frozenset()), slack_request(), "workspace"),
}


def test_who_names_no_workspace_is_let_in_for_a_look_at_theirs_and_refused_without_one() -> None:
    unknown, limiter = slack_request(team=""), CountingLimiter(limit=1)
    subject = AccessControl(OWN, limiter)
    assert subject.explain_refusal(unknown) == ""
    assert "workspace" in subject.explain_exclusion(unknown)
    # where and how often they may ask is known at once
    assert subject.explain_refusal(unknown)
    assert "channel" in AccessControl(CHANNELS, limiter).explain_refusal(slack_request(team="", channel="C0ELSE"))


@pytest.mark.parametrize(("allowed", "asked"), ADMITTED.values(), ids=ADMITTED)
def test_those_who_may_ask_are_told_nothing(allowed: AccessRules, asked: SlackRequest) -> None:
    assert AccessControl(allowed, CountingLimiter()).explain_refusal(asked) == ""


@pytest.mark.parametrize(("allowed", "asked", "hint"), REFUSED.values(), ids=REFUSED)
def test_those_who_may_not_ask_are_told_why_in_one_sentence(
    allowed: AccessRules, asked: SlackRequest, hint: str
) -> None:
    refusal = AccessControl(allowed, CountingLimiter()).explain_refusal(asked)
    assert (hint in refusal, is_one_sentence(refusal)) == (True, True)


@pytest.mark.parametrize(("allowed", "asked", "hint"), REFUSED.values(), ids=REFUSED)
def test_those_who_may_not_ask_are_not_counted(allowed: AccessRules, asked: SlackRequest, hint: str) -> None:
    limiter = CountingLimiter()
    AccessControl(allowed, limiter).explain_refusal(asked)
    assert limiter.names == []


def test_who_asks_too_much_is_told_to_wait_in_one_sentence() -> None:
    subject = AccessControl(OWN, CountingLimiter(limit=2))
    refusals = [subject.explain_refusal(slack_request(key=str(n))) for n in range(3)]
    assert refusals[:2] == ["", ""]
    assert ("wait a minute" in refusals[2], is_one_sentence(refusals[2])) == (True, True)


def test_people_are_counted_apart_and_each_in_all_channels() -> None:
    subject = AccessControl(SHARED, CountingLimiter(limit=1))
    assert not subject.explain_refusal(slack_request())
    assert not subject.explain_refusal(slack_request(user="U0ELSE"))
    assert not subject.explain_refusal(slack_request(**PARTNER))
    assert subject.explain_refusal(slack_request(channel="C0OTHER"))


def test_a_store_that_is_away_is_passed_on() -> None:
    with pytest.raises(StoreUnavailable):
        AccessControl(OWN, CountingLimiter(error=StoreUnavailable("The store is away."))).explain_refusal(
            slack_request()
        )


def test_a_refusal_needs_no_store() -> None:
    away = CountingLimiter(error=StoreUnavailable("The store is away."))
    assert AccessControl(OWN, away).explain_refusal(slack_request(**PARTNER))
