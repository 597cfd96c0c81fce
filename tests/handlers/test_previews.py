import pytest

from bot.errors import UsageError
from handlers.previews import SUB_COMMAND
from tests.handlers.intakes import Office, make_request


@pytest.mark.parametrize(("text", "word"), [(" ON ", "on"), ("off", "off"), ("", "")])
def test_people_write_on_off_or_nothing(text: str, word: str) -> None:
    office = Office()
    SUB_COMMAND.verbs["previews"].enqueue(office.app, make_request(), text)
    ((name, payload),) = office.sent
    assert (name, payload["word"]) == ("link_preview_switch", word)


def test_another_word_is_told_at_once() -> None:
    office = Office()
    with pytest.raises(UsageError, match="I don't understand 'ask'"):
        SUB_COMMAND.verbs["previews"].enqueue(office.app, make_request(), "ask")
    assert office.sent == []
