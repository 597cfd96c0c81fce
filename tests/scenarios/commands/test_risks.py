from datetime import timedelta

import pytest

from tests.helpers.world import as_read
from tests.scenarios import RISKY, Bot, labels

FILTERS = {"path": "path:csrc", "author": "author:Ada-Dev", "label": "label:perf", "blank": 'label:"needs care"'}


def risks(bot: Bot, text: str) -> str:
    """The list that is posted in a channel of its own, as it is read."""
    channel = bot.channel()
    ack = bot.person().send_command("/prrisks", text, channel).ack
    assert (ack.status, ack.text) == (200, ""), ack
    (message,) = bot.list_posts(channel)
    return as_read(message)


@pytest.mark.parametrize(
    ("days", "listed"),
    [
        ("", [1]),
        ("yesterday", [1]),
        ("today", [0]),
        ("7d", [0, 1, 2, 3, 4, 5, 6]),
        ("{3}", [3]),
        ("{6}..{3}", [3, 4, 5, 6]),
    ],
    ids=["default", "yesterday", "today", "7d", "date", "range"],
)
def test_the_risky_merges_of_the_days_are_listed(days: str, listed: list[int], bot: Bot) -> None:
    repository = bot.repository()
    numbers = {ago: bot.pull(repository, merged_at=bot.noon(ago), **RISKY) for ago in range(8)}
    dates = {ago: str(bot.noon(ago).date()) for ago in range(8)}
    listing = risks(bot, f"{days.format(*dates.values())} repo:{repository} top:10")
    assert {ago for ago, number in numbers.items() if f"#{number} " in listing} == set(listed)
    assert f"{len(listed)} merged" in listing
    assert "adds 450 lines; performance or concurrency" in listing
    assert "🔴 highest" in listing


def test_without_a_word_it_is_yesterday_of_the_bots_own_repository(bot: Bot) -> None:
    number, channel = bot.pull(merged_at=bot.noon(1), **RISKY), bot.channel()
    ack = bot.person().send_command("/prrisks", "", channel).ack
    assert (ack.status, ack.text) == (200, "")
    (message,) = bot.list_posts(channel)
    assert f"#{number} " in as_read(message)


def test_what_was_taken_back_comes_first_and_is_not_listed_again(bot: Bot) -> None:
    repository, noon = bot.repository(), bot.noon(3)
    bad = bot.pull(repository, merged_at=noon, **RISKY)
    bot.pull(repository, merged_at=noon + timedelta(hours=3), title='Revert "x"', body=f"Reverts #{bad}")
    other = bot.pull(repository, merged_at=noon, **RISKY)
    listing = risks(bot, f"{noon.date()} repo:{repository}")
    assert listing.index("Already reverted or repaired") < listing.index(f"#{bad} ") < listing.index("Riskiest")
    assert "reverted after 3.0 h by" in listing
    assert listing.index(f"#{other} ") > listing.index("Riskiest")
    assert listing.count(f"#{bad} ") == 1


def test_a_repair_on_a_later_day_counts_too(bot: Bot) -> None:
    repository, noon = bot.repository(), bot.noon(5)
    bad = bot.pull(repository, merged_at=noon)
    bot.pull(repository, merged_at=bot.noon(2), title="Fix it", body=f"Fixes a regression from #{bad}")
    assert "repaired after 3 days by" in risks(bot, f"{noon.date()} repo:{repository}")


@pytest.mark.parametrize("filter_text", FILTERS.values(), ids=FILTERS)
def test_filters_leave_out_what_does_not_fit(filter_text: str, bot: Bot) -> None:
    repository, noon = bot.repository(), bot.noon(2)
    fitting = bot.pull(repository, merged_at=noon, author="ada-dev", labels=("perf", "needs care"), **RISKY)
    files = ({**RISKY["files"][0], "filename": "engine/attention.py"},)
    other = bot.pull(repository, merged_at=noon, **{**RISKY, "files": files})
    listing = risks(bot, f"{noon.date()} {filter_text} repo:{repository}")
    assert "1 of 2 merged" in listing
    assert f"#{fitting} " in listing
    assert f"#{other} " not in listing
    assert f"\n{filter_text}\n" in listing


def test_top_says_how_many_are_listed(bot: Bot) -> None:
    repository, noon = bot.repository(), bot.noon(2)
    numbers = [bot.pull(repository, merged_at=noon, **RISKY) for _ in range(7)]
    for top, many in (("", 5), ("top:7", 7)):
        listing = risks(bot, f"{noon.date()} repo:{repository} {top}")
        assert sum(f"#{number} " in listing for number in numbers) == many


def test_top_lists_as_many_as_are_asked_for_and_marks_those_below_the_bar(bot: Bot) -> None:
    repository, noon = bot.repository(), bot.noon(2)
    high = bot.pull(repository, merged_at=noon, **RISKY)
    others = [bot.pull(repository, merged_at=noon) for _ in range(3)]
    assert not any(f"#{number} " in risks(bot, f"{noon.date()} repo:{repository}") for number in others)
    listing = risks(bot, f"{noon.date()} repo:{repository} top:3")
    above, _, below = listing.partition("Less risky (listed because of top:3)")
    assert f"#{high} " in above
    assert sum(f"#{number} " in below for number in others) == 2
    listing = risks(bot, f"{noon.date()} repo:{repository} top:10")
    assert all(f"#{number} " in listing for number in others)
    assert "top:10: only 4 pull requests can be ranked." in listing


@pytest.mark.parametrize(
    ("pulls", "filter_text", "sentence"),
    [
        (1, "", "so I can't tell. 1 merged."),
        (1, "author:nobody", "No pull request of these days matches author:nobody."),
        (0, "", "nothing merged"),
    ],
    ids=["unread", "fits none", "empty"],
)
def test_a_list_of_nothing_says_so(pulls: int, filter_text: str, sentence: str, bot: Bot) -> None:
    repository, noon = bot.repository(), bot.noon(2)
    bot.pull(repository, merged_at=bot.noon(4))
    for _ in range(pulls):
        bot.pull(repository, merged_at=noon)
    assert sentence in risks(bot, f"{noon.date()} repo:{repository} {filter_text}")


def test_a_risk_list_can_be_kept_private(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    bot.pull(repository, merged_at=bot.noon(1), **RISKY)
    ada.send_command("/prrisks", f"private repo:{repository}", channel)
    (shown,) = bot.list_whispers(ada)
    assert labels(shown) == ["Details of …", "Share in channel"]
    assert not bot.list_posts(channel)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("help", "*/prrisks*: breaking and reverted changes, and the riskiest ones."),
        ("soon", ": write today, yesterday, 7d, 2026-02-28 or 2026-02-24..2026-02-28."),
        ("99d", "99 days are too many at once: ask for up to 31."),
        ("2026-02-28..2026-02-24", "2026-02-28..2026-02-24 ends before it starts: write the earlier date first."),
        ("2999-01-01", "2999-01-01 is in the future: choose a day up to "),
        ("top:50", ": write a number from 1 to 10."),
        (
            "colour:red",
            ("I don't understand colour: here, use path:… [not-]author:… label:… top:… repo:… profile:… instead."),
        ),
        ("path:", "path: needs a value directly after the colon."),
        ("repo:other/secret", "I'm not set up for other/secret: ask about octo/engine,"),
    ],
    ids=["help", "nonsense", "long", "backwards", "future", "top", "unknown", "no value", "other repository"],
)
def test_what_can_not_be_listed_is_told_to_the_asker_alone(text: str, sentence: str, bot: Bot) -> None:
    channel, before = bot.channel(), bot.calls()
    assert sentence in bot.person().send_command("/prrisks", text, channel).ack.text
    assert bot.calls() == before
    assert not bot.list_posts(channel)
