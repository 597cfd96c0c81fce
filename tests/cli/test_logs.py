import json
import logging
from concurrent.futures import Future

import pytest

from bot.cli.base import JsonFormatter, TextFormatter
from bot.platform.correlation import get_request_id, identify_request
from bot.platform.worker_threads import DeadlineExecutor

TOKEN = "ghp_" + "a1B2" * 9
INSTANT = 1_772_366_400.25


def make_record(message: str, *arguments: object) -> logging.LogRecord:
    record = logging.LogRecord("bot.clock", logging.WARNING, __file__, 1, message, arguments, None)
    record.created = INSTANT
    return record


def make_failure(text: str) -> logging.LogRecord:
    record = make_record("a defect")
    error = ValueError(text)
    record.exc_info = (ValueError, error, None)
    return record


def test_a_line_for_people_has_the_time_in_utc_and_the_id() -> None:
    with identify_request("0b134a"):
        line = TextFormatter().format(make_record("missed %d", 2))
    assert line == "2026-03-01T12:00:00.250Z WARNING bot.clock [0b134a]: missed 2"


def test_a_line_without_a_request_names_none() -> None:
    assert TextFormatter().format(make_record("ticks")) == "2026-03-01T12:00:00.250Z WARNING bot.clock: ticks"
    assert json.loads(JsonFormatter().format(make_record("ticks")))["request"] == ""


def test_a_line_of_json_has_the_same_in_fields() -> None:
    with identify_request("0b134a"):
        line = JsonFormatter().format(make_record("missed %d", 2))
    assert json.loads(line) == {
        "time": "2026-03-01T12:00:00.250Z",
        "level": "WARNING",
        "logger": "bot.clock",
        "message": "missed 2",
        "request": "0b134a",
    }


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()], ids=["text", "json"])
def test_no_line_has_a_credential(formatter: logging.Formatter) -> None:
    for record in (make_record("sent %s", TOKEN), make_failure(f"refused: {TOKEN}")):
        line = formatter.format(record)
        assert TOKEN not in line
        assert "[redacted]" in line


def test_a_line_of_json_stays_one_line_whatever_it_quotes() -> None:
    line = JsonFormatter().format(make_failure('first\nsecond "quoted" \u2028'))
    assert "\n" not in line
    fields = json.loads(line)
    assert fields["message"] == "a defect"
    assert 'second "quoted"' in fields["exception"]


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()], ids=["text", "json"])
def test_a_long_line_is_cut(formatter: logging.Formatter) -> None:
    line = formatter.format(make_record("x " * 100_000))
    assert len(line) < 21_000
    assert "… [cut]" in line


def test_threads_of_a_piece_of_work_know_its_id_and_others_do_not() -> None:
    def find_id() -> str:
        return get_request_id()

    with DeadlineExecutor(1, "parts") as crew:
        with identify_request("0b134a"):
            inside: Future[str] = crew.submit(find_id)
            assert inside.result(10) == "0b134a"
        assert get_request_id() == ""
