import re
from collections.abc import Callable

import pytest

from tests.browser.process import Demo, running_demo
from tests.demo.test_live import channel, say, screen
from tests.helpers.checks import eventually

pytestmark = pytest.mark.slow

# below a whole answer
BUTTON = "bk-feedback bk-good"


def open_thread(demo: Demo) -> Callable[[str], str]:
    lead = re.search(r'class="replies" href="#/\w+/([\d.]+)"', screen(demo.address, 'class="replies"'))
    assert lead

    def ask(question: str) -> str:
        count = channel(demo.address, lead[1]).count(BUTTON)
        eventually(lambda: say(demo.address, question, lead[1])["notice"] == "")
        pieces = eventually(
            lambda: split if len(split := channel(demo.address, lead[1]).split(BUTTON)) > count + 1 else []
        )
        return str(pieces[-2]).rpartition('class="bk-message')[2]

    return ask


def test_what_points_back_is_answered_about_what_was_listed() -> None:
    with running_demo() as demo:
        ask = open_thread(demo)
        first = ask("which of these touch ROCm?")
        assert "small-batch" in first
        # a quote that was checked, and who wrote this
        assert re.search(r"/pull/33762/files#diff-\w+L194[^>]*>utils.py:194 \(removed\)</a>", first)
        assert "Sources: the list of Saturday 28 February 2026" in first
        assert "This demo uses no model" in first
        second = ask("and the second one?")
        assert "ROCm vision scoring tests run once per attention backend" in second
        assert "This demo uses no model" not in second
        assert "AndreasKaratzas" in ask("who wrote it?")
        none = ask("does it run on a Raspberry Pi?")
        assert "I have no answer to that" in none
        assert none.count("<li") == 3
        assert demo.interrupt() == 0


def test_in_the_thread_of_a_team_its_own_lines_are_named() -> None:
    with running_demo("--profile") as demo:
        ask = open_thread(demo)
        lines = ask("where do we use it?")
        assert all(place in lines for place in ("captions.py:11", "processor.py:15", "sweep.sh:9"))
        assert "searched the profile satellite for truncate_prompt_tokens" in lines
        assert "interface.py:22" in lines
        assert demo.interrupt() == 0
