"""A new sub-command of ``/prdigest`` is its own module: parser, queue, help, usage and hint derive from that."""

from dataclasses import replace
from datetime import date

import pytest

from bot.errors import UsageError
from bot.platform.commands import AllowedRepositories, ParseContext
from bot.platform.slack.blocks import write_request
from bot.platform.slack.notices import Greeting, render_greeting
from bot.platform.slack.requests import Audience
from handlers import COMMANDS, SUB_COMMANDS, digest, messages
from handlers.declaration import Command, SubCommand, list_examples
from tests.handlers.commands import toy
from tests.handlers.intakes import ENGINE, Office, make_request
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.doubles import slack_request
from tests.helpers.tables import check_rows
from tests.project.tools.manifest_check import entry_of

COMMAND = digest.make_command((*SUB_COMMANDS, toy.SUB_COMMAND))
BALL = toy.ToyRequest(ENGINE, "ball")
# the examples name days up to this one
CONTEXT = ParseContext(AllowedRepositories(REPOSITORY), lambda zone=None: replace(DAY, date=date(2026, 11, 23)))


def test_its_text_is_parsed_and_its_job_is_enqueued() -> None:
    office = Office()
    COMMAND.accept_text(office.app, slack_request(), "Ball private")
    [(name, payload)] = office.sent
    assert (name, payload["request"]) == ("toy", toy.ToyRequest(ENGINE, "Ball", is_private=True))
    assert payload["audience"] is Audience.ASKER


def test_its_verb_is_run_and_may_stand_alone_in_a_message() -> None:
    office = Office()
    COMMAND.accept_text(office.app, slack_request(), "kick far")
    for text in ("digest kick far", "kick far", "digest ball"):
        messages.accept_message(
            office.app, (COMMAND,), make_request(), text, make_request().message, is_named=True
        )
    assert office.queues == ["toy"] * 4


def test_what_begins_otherwise_means_what_it_meant() -> None:
    office = Office()
    for text in ("2026-02-28", "contract 1d", "touches score", "list"):
        COMMAND.accept_text(office.app, slack_request(), text)
    assert office.queues == ["digest", "contract", "touch_score", "regular"]


def test_its_word_is_suggested_for_a_mistyped_one() -> None:
    with pytest.raises(UsageError, match=r"Did you mean /prdigest ball\?"):
        COMMAND.accept_text(Office().app, slack_request(), "bal")


def test_its_button_shares_what_was_private() -> None:
    office = Office()
    button = {"value": write_request(replace(BALL, is_private=True))}
    COMMAND.share_again(office.app, slack_request(), {"actions": [button]})
    [(name, payload)] = office.sent
    assert (name, payload["request"], payload["audience"]) == ("toy", BALL, Audience.SHARED)


def test_it_is_in_the_usage_the_help_the_hint_and_the_manifest() -> None:
    assert "\n• `ball` – a ball that rolls\n" in COMMAND.format_help()  # noqa: RUF001 (a dash)
    help_post = render_greeting(Greeting.HELP, ENGINE, list_examples((COMMAND,)))
    assert "digest ball – a ball that rolls" in help_post.text  # noqa: RUF001 (a dash)
    assert entry_of(COMMAND)["usage_hint"].endswith(" | ball | kick | help]")


def test_without_sub_commands_the_digest_is_left() -> None:
    alone = digest.make_command(())
    assert (alone.hint, alone.keywords, dict(alone.verbs)) == (
        "[2026-02-28 | 7d | help]",
        ("today", "yesterday"),
        {},
    )


@check_rows({each.hint_words[0]: each for each in SUB_COMMANDS})
def test_each_has_its_words_in_the_hint(sub_command: SubCommand) -> None:
    assert set(sub_command.hint_words) <= set(digest.make_command(SUB_COMMANDS).hint.strip("[]").split(" | "))


WORDS = {f"{command.name} {word}": (command, word) for command in COMMANDS for word in command.words}


@check_rows(WORDS)
def test_the_help_of_each_word_has_its_usage_and_examples_that_are_understood(command: Command, word: str) -> None:
    topic = command.words[word]
    begins = word not in command.words or word != command.requests[0].word
    assert topic.usage.split()[0] == word if begins else topic.usage
    assert len(set(topic.examples)) == (1 if topic.usage == word else 2)
    office = Office(today=CONTEXT.today())
    for example in topic.examples:
        command.accept_text(office.app, slack_request(trigger="1.2.3"), example)
    assert len(office.sent) == len(topic.examples)
    for text in (f"help {word}", f"Help  {word.upper()}", *([f"{word} help", f"{word} --help"] if begins else [])):
        shown = command.answer_help(text, COMMANDS)
        assert shown
        assert [line for line in (topic.meaning, f"`{command.name} {topic.usage}`") if line not in shown] == []
        assert all(f"`{command.name} {example}`" in shown for example in topic.examples)


MISTAKEN = {
    "contract soon": "/prdigest contract [DAYS]",
    "touches score now": "/prdigest touches [DAYS | score]",
    "broke KeyError": "/prdigest broke ERROR since DAY",
    "upgrade a b": "/prdigest upgrade [TAG | COMMIT]",
    "usage november": "/prdigest usage [MONTH]",
    "subscribe at 25:00": "/prdigest subscribe [owner/repo]",
    "pause this one": "/prdigest pause [NUMBER",
    "snooze all": "/prdigest snooze [NUMBER | owner/repo | all] until DAY",
    "snooze until yesterday": "/prdigest snooze [NUMBER",
    "list all": "/prdigest list",
    "previews maybe": "/prdigest previews [on | off]",
}


@check_rows(list(MISTAKEN))
def test_a_mistake_after_a_word_shows_the_usage_of_that_alone(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        COMMAND.accept_text(Office().app, slack_request(), text)
    sentence, _, usage = str(caught.value).partition(" Usage: ")
    assert sentence
    assert usage.startswith(MISTAKEN[text])
    assert "/prdigest" not in usage.removeprefix("/prdigest")


def test_the_help_of_a_command_is_short_and_names_all_its_words() -> None:
    for command in COMMANDS:
        told = command.format_help()
        assert [word for word in [*command.words][1:] if f"`{word}`" not in told] == []
        assert len(told) < 1_500


def test_other_commands_and_mistyped_words_are_found_from_each_command() -> None:
    summary, risks, own = COMMANDS
    for text in ("help prrisks", "help /prrisks", "help risks"):
        assert own.answer_help(text, COMMANDS) == risks.format_help()
    assert summary.answer_help("help touches", COMMANDS) == own.format_help("touches")
    with pytest.raises(UsageError, match=r"Did you mean /prdigest help contract\?"):
        own.answer_help("help contrct", COMMANDS)
    with pytest.raises(UsageError, match=r"I don't know 'weather'. See /prrisks help."):
        risks.answer_help("help weather", COMMANDS)


@check_rows(["broke RuntimeError: no cuda device, see help", "2026-02-28", "", "contract helpful"])
def test_what_only_mentions_help_is_a_command(text: str) -> None:
    assert COMMANDS[-1].answer_help(text, COMMANDS) is None


def test_each_word_and_each_type_belong_to_one() -> None:
    requests = [request for each in SUB_COMMANDS for request in each.requests]
    words = [*(request.word for request in requests), *(verb for each in SUB_COMMANDS for verb in each.verbs)]
    types = [kind.__name__ for request in requests for kind in request.request_types]
    assert (sorted(words), sorted(types)) == (sorted(set(words)), sorted(set(types)))
