from datetime import timedelta

import pytest
from pydantic import TypeAdapter

from bot.dates import LocalDay
from bot.features.digest.posts import POSTED_DIGESTS
from bot.features.risks.ratings import PostedRatings, RatedPullRequest
from bot.platform.pulls.models import PullRequest
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store
from impact.repository import Repository
from tests.helpers.builders import pull
from tests.helpers.records import digest_store, plant
from tests.helpers.world import as_read
from tests.scenarios import Bot, labels

_RATINGS = TypeAdapter(PostedRatings)


def a_digest(bot: Bot, repository: str, days_ago: int = 9) -> tuple[PullRequest, PullRequest]:
    """A digest of two, as it is recorded when it is posted; of these, the listed one was reverted by the other."""
    of, noon = Repository.parse(repository), bot.noon(days_ago)
    first = pull(bot.unused_number(), repository=of, merged_at=noon)
    back = pull(bot.unused_number(), repository=of, merged_at=noon + timedelta(days=2, hours=3))
    back = pull(back.number, repository=of, merged_at=back.merged_at, title=f'Revert "{first.title}"')
    HistoryStore(bot.store).record_merges([first, back])
    rated = (
        RatedPullRequest(first.number, noon, 14.0, 400, is_listed=True),
        RatedPullRequest(bot.unused_number(), noon, 3.0, 4),
    )
    day = LocalDay(noon.date(), bot.zone)
    key = f"digest:T1:C1:{repository}:{day.date}"
    kept = _RATINGS.dump_json(PostedRatings("rules.v2", rated)).decode()
    plant(digest_store(bot.store), key, ratings_json=kept, posted_at=day.end + timedelta(hours=9))
    Store(bot.store).add_member(POSTED_DIGESTS, key, day.end, str(of).lower())
    return first, back


@pytest.mark.parametrize("text", ["score", "score 10d", "Score 90d"])
def test_the_score_is_posted_with_what_it_rests_on(text: str, bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    first, back = a_digest(bot, repository)
    ack = bot.person().send_command("/prrisks", f"{text} repo:{repository}", channel).ack
    assert (ack.status, ack.text) == (200, "")
    (message,) = bot.list_posts(channel)
    score_text = as_read(message)
    assert "How good was the risk list? · part-" in score_text
    assert "Listed: 1 of 2 merged pull requests, in 1 digest. Later: 1 reverted" in score_text
    assert (
        "Too few to tell: a verdict needs 20 listed and 5 reverted or repaired changes; there are 1 and 1."
    ) in score_text
    assert f"#{first.number} {first.title}, reverted after 2 days by #{back.number}" in score_text
    assert labels(message) == ["Details of …", "Ask about this"]


def test_what_was_posted_before_the_days_does_not_count(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    a_digest(bot, repository)
    bot.person().send_command("/prrisks", f"score 9d repo:{repository}", channel)
    (message,) = bot.list_posts(channel)
    assert "There is nothing to score" in as_read(message)
    assert labels(message) == ["Ask about this"]


def test_a_score_that_was_kept_private_can_be_shared(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    a_digest(bot, repository)
    ada.send_command("/prrisks", f"score 30d private repo:{repository}", channel)
    (shown,) = bot.list_whispers(ada)
    assert labels(shown) == ["Details of …", "Share in channel"]
    assert not bot.list_posts(channel)
    ada.press(shown, "share_risks")
    (message,) = bot.list_posts(channel)
    assert message["blocks"][:-2] == shown["blocks"][:-1]


def test_in_a_thread_it_is_asked_for_by_name(bot: Bot) -> None:
    repository, channel = bot.repository(), bot.channel()
    a_digest(bot, repository)
    thread = bot.world.slack.add_message(channel, "lead")
    bot.person().mention(f"risks score repo:{repository}", channel, thread)
    (reply,) = bot.list_thread_posts(channel, thread)
    assert "Listed: 1 of 2 merged pull requests" in as_read(reply)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("score 366d", "366 days are too many at once: ask for up to 365."),
        (
            "score well",
            (
                "I don't recognize the date 'well': write today, yesterday, 7d, 2026-02-28 or "
                "2026-02-24..2026-02-28."
            ),
        ),
        ("score path:a", "I don't understand path: here, use repo:… instead."),
        ("score repo:other/secret", "I'm not set up for other/secret: ask about octo/engine,"),
        ("score help", "Without days: 90d; up to 365 days."),
    ],
    ids=["long", "nonsense", "path", "other repository", "help"],
)
def test_what_can_not_be_scored_is_told_to_the_asker_alone(text: str, sentence: str, bot: Bot) -> None:
    channel = bot.channel()
    assert sentence in bot.person().send_command("/prrisks", text, channel).ack.text
    assert not bot.list_posts(channel)
