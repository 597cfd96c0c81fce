import re

import pytest
from hypothesis import given
from localslack.rules.messages import check_message, find_links, find_mentions

from bot import errors
from bot.errors import (
    BudgetExceeded,
    ConfigurationError,
    DayUnavailable,
    DiscussionUnavailable,
    GitHubAccessDenied,
    GitHubUnavailable,
    ModelBusy,
    ModelError,
    ModelRequestRejected,
    PackageUnavailable,
    PostingInProgress,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    SlackCallRefused,
    SlackUnavailable,
    StoreUnavailable,
    TimeLimitExceeded,
    UsageError,
)
from bot.platform.slack.client import _SENTENCES
from bot.platform.slack.notices import BUSY, describe_error, render_error, render_existing_digest, render_notice
from bot.usage import BudgetRefusal
from tests.features.digest.hostile_days import BLANK, WORST, texts
from tests.platform.slack.accepted import assert_taken, invisible, read_post, strings

REFERENCE = "a1b2c3"
# what errors say to the operator
LOUD = (
    "Traceback (most recent call last): RuntimeError at https://api.github.example/graphql: set SLACK_BOT_TOKEN, "
    "GITHUB_TOKEN and redis://localhost:6379 (REDIS_URL) again."
)
FOR_ASKERS = (
    *(
        UsageError,
        DayUnavailable,
        DiscussionUnavailable,
        PackageUnavailable,
        PullRequestNotFound,
        RepositoryNotFound,
        RateLimited,
        PostingInProgress,
        TimeLimitExceeded,
    ),
)
UNTOLD = re.compile(
    r"://|\b[A-Z]+_[A-Z_]+\b|\bxox|Traceback|[Ee]xception|\b[A-Z][a-z]+(?:[A-Z][a-z]+)*Error\b|\bNone\b|  File "
)


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PrdigestError)]


def make_error(kind: type[PrdigestError], sentence: str) -> PrdigestError:
    if kind is BudgetExceeded:
        return BudgetExceeded(BudgetRefusal.DAY_USED)
    return SlackCallRefused(sentence, "invalid_auth") if kind is SlackCallRefused else kind(sentence)


def assert_for_a_person(notice: str) -> None:
    """One sentence or two halves of one, without what only an operator could use, then the reference."""
    sentence, _, reference = notice.rpartition(" [")
    assert reference == f"{REFERENCE}]"
    assert_readable(sentence)


def assert_readable(sentence: str) -> None:
    """One sentence or two halves of one, without what only an operator could use."""
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert sentence == sentence.strip()
    assert "\n" not in sentence
    names = [kind.__name__ for kind in KINDS if len(re.findall("[A-Z]", kind.__name__)) > 1]
    assert [name for name in names if name in sentence] == []
    assert UNTOLD.findall(sentence) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FOR_ASKERS])
def test_what_an_error_says_to_an_operator_is_said_in_other_words(kind: type[PrdigestError]) -> None:
    assert_for_a_person(describe_error(make_error(kind, LOUD), REFERENCE))


def test_a_day_that_nobody_can_have_is_a_sentence_without_a_reference() -> None:
    assert describe_error(DayUnavailable("The sample holds 28 February 2026 only."), REFERENCE) == (
        "The sample holds 28 February 2026 only."
    )


@pytest.mark.parametrize(
    "error", [ZeroDivisionError(LOUD), KeyError("GITHUB_TOKEN"), OSError(2, LOUD), Exception(), ValueError("a\nb")]
)
def test_a_defect_is_one_sentence_with_a_reference(error: Exception) -> None:
    assert_for_a_person(describe_error(error, REFERENCE))
    assert "Something went wrong on my side" in describe_error(error, REFERENCE)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PullRequestNotFound("octo/engine has no pull request #9."), "octo/engine has no pull request #9."),
        (
            RepositoryNotFound("GitHub has no repository octo/engin, or the token may not read it."),
            "GitHub has no repository octo/engin, or the token may not read it.",
        ),
        (
            RateLimited("GitHub's rate limit for this token is used up: try again in 12 minutes.", 720),
            "GitHub's rate limit for this token is used up: try again in 12 minutes.",
        ),
        (
            PostingInProgress("Another process is posting this now: check the channel soon."),
            "Another process is posting this now: check the channel soon.",
        ),
        (
            UsageError("3 days are too many at once: ask for up to 2."),
            "3 days are too many at once: ask for up to 2.",
        ),
        (StoreUnavailable("Redis at redis://h:6379 does not answer."), BUSY),
        (GitHubUnavailable("GitHub answered 502 for octo/engine."), "GitHub is not responding"),
        (GitHubAccessDenied("GitHub rejected the token: set GITHUB_TOKEN."), "GitHub does not let me read that"),
        (
            SlackCallRefused("Slack rejected the token: set SLACK_BOT_TOKEN.", "invalid_auth"),
            "Slack does not let me do",
        ),
        (
            SlackCallRefused("The bot lacks the scope chat:write.", "missing_scope"),
            "Slack does not let me do that",
        ),
        (SlackUnavailable("Slack can't be reached: check SLACK_API_URL."), "Slack is not responding"),
        (SlackUnavailable("Slack asked for a pause.", 61.0), "Slack limits my rate: try again in 2 minutes."),
        (ModelError("The model said no."), "Something went wrong on my side"),
        (ModelBusy("api.anthropic.com answered 529.", 3.0), "Something went wrong on my side"),
        (ModelRequestRejected("Set ANTHROPIC_API_KEY."), "Something went wrong on my side"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_went_wrong_is_said_to_the_one_who_asked(error: Exception, expected: str) -> None:
    post = render_error(error, REFERENCE)
    assert read_post(post).startswith(expected)
    check = assert_readable if isinstance(error, UsageError | PullRequestNotFound) else assert_for_a_person
    check(read_post(post))
    assert_taken(post, ())


MENDED = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")


@pytest.mark.parametrize("code", sorted(_SENTENCES))
def test_refusals_of_slack_are_passed_on_only_where_the_asker_can_mend_them(code: str) -> None:
    sentence = _SENTENCES[code].format(channel="C0ENGINE", token="SLACK_BOT_TOKEN to the bot's token (xoxb-…)")
    notice = describe_error(SlackCallRefused(sentence, code), REFERENCE)
    (assert_readable if code in MENDED else assert_for_a_person)(notice)
    assert notice.startswith(sentence) == (code in MENDED)


@pytest.mark.parametrize(
    "sentence",
    [
        "Set GITHUB_TOKEN to a token that may read pull requests, or set up a GitHub App (GITHUB_APP_…).",
        "GITHUB_APP_PRIVATE_KEY is neither a private key nor a readable file.",
        "Set PRDIGEST_REPO to your repository, as owner/name.",
    ],
)
def test_what_an_operator_forgot_to_set_is_not_told_to_the_asker(sentence: str) -> None:
    assert_for_a_person(describe_error(ConfigurationError(sentence), REFERENCE))


def test_the_reference_outlives_a_long_sentence() -> None:
    error = RateLimited(f"{'x' * 900!r} asks for a pause.")
    assert read_post(render_error(error, REFERENCE)).endswith(f"[{REFERENCE}]")


@given(texts(1_000))
def test_what_an_asker_typed_is_repeated_without_coming_alive(typed: str) -> None:
    post = render_error(UsageError(f"{typed!r} I couldn't find a pull request number: write 35617."), REFERENCE)
    assert_taken(post, ())
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@given(texts(1_000))
def test_a_hostile_sentence_makes_a_message_that_slack_takes(sentence: str) -> None:
    assert_taken(render_notice(f"x{sentence}"), ())


@pytest.mark.parametrize("typed", ["5\u202e6", "5\n6"], ids=ascii)
def test_a_sentence_neither_breaks_lines_nor_reads_backwards(typed: str) -> None:
    post = render_notice(f"I don't understand top:{typed}: write a number from 1 to 10.")
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_the_longest_sentence_is_short(text: str) -> None:
    assert_taken(render_notice(text * 10), ())
    assert len(read_post(render_notice(text * 10))) <= 600


@pytest.mark.parametrize("blank", BLANK, ids=ascii)
def test_an_error_without_words_still_gives_its_reference(blank: str) -> None:
    post = render_error(UsageError(blank), REFERENCE)
    assert_taken(post, ())
    assert f"[{REFERENCE}]" in read_post(post)


def test_a_notice_is_one_literal_paragraph_and_a_text_that_is_put_out() -> None:
    post = render_notice("Ask <!here> & *now*.")
    assert read_post(post) == "Ask <!here> & *now*."
    assert post.text == "Ask &lt;!here&gt; &amp; *now*."


def test_where_a_digest_stands_is_one_link() -> None:
    address = "https://octo.slack.com/archives/C0ENGINE/p1772308800000100"
    payload = render_existing_digest(address).build_payload()
    assert check_message(payload) is None
    assert find_mentions(payload) == []
    assert set(find_links(payload)) == {address}
    assert read_post(render_existing_digest(address)) == "That digest is already here: open it"
