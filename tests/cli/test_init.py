"""``prdigest init`` as a person uses it: on a pseudo terminal, with services beside it."""

import re
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from dotenv import dotenv_values

from bot.cli import init
from bot.cli.init import find_tokens
from bot.errors import UsageError
from bot.settings import Settings
from tests.cli.conftest import Call
from tests.helpers.processes.command import prdigest
from tests.helpers.processes.terminal import Terminal, open_terminal
from tests.helpers.setting_up import TOKENS, NewAccounts, open_new_accounts
from tests.helpers.world import CHANNEL

ANSWERS = ("--repo", "octo/engine", "--channel", CHANNEL, "--at", "9:30 am Europe/Berlin", "--model", "claude")
BOT, APP, GITHUB, CLAUDE = (
    TOKENS[name] for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "GITHUB_TOKEN", "ANTHROPIC_API_KEY")
)
slow = pytest.mark.slow


@pytest.fixture
def there(tmp_path: Path) -> Iterator[NewAccounts]:
    with open_new_accounts(tmp_path) as made:
        yield made


def open_init(there: NewAccounts, *options: str):  # type: ignore[no-untyped-def]
    return open_terminal("init", "--history", "3", *options, settings=there.settings, folder=there.folder)


def paste(terminal: Terminal, what: str, text: str) -> None:
    terminal.answer(f"Paste the {what}, which is not shown .*: ", text)


@slow
class TestOnATerminal:
    def test_four_answers_and_the_tokens_lead_to_a_green_doctor_and_a_test(self, there: NewAccounts) -> None:
        with open_init(there) as terminal:
            terminal.answer("owner/name: ", "https://github.com/octo/engine")
            terminal.answer("its id\\): ", "#digest")
            terminal.wait_for("'#digest' is not a channel: paste what Copy link")
            terminal.answer("its id\\): ", f"https://team.slack.com/archives/{CHANNEL}?x=1")
            terminal.answer(r"\[09:00 Europe/Berlin\]: ", "25:00 Mars/Olympus")
            terminal.wait_for("'Mars/Olympus' is not a time zone")
            terminal.answer(r"\[09:00 Europe/Berlin\]: ", "")
            terminal.answer(r"\[claude\]: ", "perhaps")
            terminal.wait_for("'perhaps' is neither claude nor none")
            terminal.answer(r"\[claude\]: ", "")
            # with the name of its variable, in quotation marks, and in pieces
            paste(terminal, "key for Claude", f'ANTHROPIC_API_KEY="{CLAUDE[:20]}\n  {CLAUDE[20:]}"')
            paste(terminal, "GitHub token", GITHUB)
            terminal.wait_for('"socket_mode_enabled": true')
            terminal.wait_for(r"api\.slack\.com/apps\?new_app=1&manifest_json=%7B%22_metadata%22")
            paste(terminal, "bot token", "0123456789abcdef" * 2)
            terminal.wait_for("That is the signing secret or the client secret")
            paste(terminal, "bot token", BOT[:12])
            terminal.wait_for("That is not a whole bot token: copy it again")
            paste(terminal, "bot token", APP)
            terminal.wait_for("That is the app token, not the bot token: it is kept as SLACK_APP_TOKEN")
            paste(terminal, "bot token", BOT)
            terminal.wait_for("1 problem to fix:(?s:.*)invite it there")
            there.person.invite(CHANNEL)
            terminal.type_text("\n")
            terminal.wait_for("No problems found")
            terminal.wait_for("3 days: 3 filled")
            there.send_code(terminal)
            terminal.wait_for("It is in your direct messages")
            terminal.wait_for("posts every day at 09:00 Europe/Berlin")
            assert terminal.wait_for_end() == 0
        assert stat.S_IMODE(there.dotenv.stat().st_mode) == 0o600
        written = dotenv_values(there.dotenv)
        assert {name: written[name] for name in TOKENS} == TOKENS
        assert not [token for token in TOKENS.values() if token in terminal.shown]
        # it was there before, and stays
        assert written["SLACK_API_URL"] == there.slack.url
        [test] = [each for each in there.slack.list_messages(there.direct_messages) if "bot_id" in each]
        assert "2 merged" in test["text"]
        assert "A test, which only you see" in str(test["blocks"])
        assert there.slack.list_messages(CHANNEL) == []

    @pytest.mark.parametrize("is_lost", [False, True], ids=["ctrl-c", "lost connection"])
    def test_it_goes_on_where_it_was_interrupted(self, there: NewAccounts, *, is_lost: bool) -> None:
        """After each step, in a new process each time."""
        steps = [
            ("owner/name: ", "octo/engine"),
            ("its id\\): ", CHANNEL),
            (r"\[09:00 Europe/Berlin\]: ", "7am"),
            (r"\[claude\]: ", "none"),
            ("Paste the GitHub token.*: ", GITHUB),
            ("Paste the bot token.*: ", BOT),
            ("Paste the app token.*: ", APP),
        ]
        for at, (question, text) in enumerate(steps):
            with open_init(there) as terminal:
                terminal.answer(question, text)
                # the next question: what was asked before it is kept
                terminal.wait_for([*(each for each, _ in steps), "Fix this.*: "][at + 1])
                if is_lost:
                    # 120 is Python's where the process reads the end of its input before the signal comes
                    assert terminal.hang_up() in {-signal.SIGHUP, 120}
                else:
                    terminal.press_ctrl_c()
                    assert terminal.wait_for_end() == 130
                    assert "the same command continues from there" in terminal.shown
            assert not [each for each, _ in steps[:at] if re.search(each, terminal.shown)]
        there.person.invite(CHANNEL)
        with open_init(there) as terminal:
            terminal.wait_for("No problems found")
            terminal.wait_for("Press Enter here to do without")
            terminal.type_text("\n")
            assert terminal.wait_for_end() == 0
            assert not [each for each, _ in steps if re.search(each, terminal.shown)]
        assert "Paste the key for Claude" not in terminal.shown

    def test_ctrl_c_ends_the_history_alone(self, there: NewAccounts) -> None:
        there.person.invite(CHANNEL)
        there.dotenv.write_text(there.dotenv.read_text() + "".join(f"{a}={b}\n" for a, b in TOKENS.items()))
        there.github.latency = 0.3
        with open_init(there, *ANSWERS, "--history", "60") as terminal:
            terminal.wait_for("Loading 60 days")
            terminal.wait_for("3/60")
            terminal.press_ctrl_c()
            assert int(terminal.wait_for(r"60 days: (\d+) filled, \d+ not reached")[1]) >= 3
            there.send_code(terminal)
            terminal.wait_for("It is in your direct messages")
            assert terminal.wait_for_end() == 0
            again = open_init(there, "--history", "4")
        with again as terminal:
            terminal.wait_for(r"4 days: [01] filled, [34] loaded before")

    def test_a_code_of_somebody_else_and_of_another_place_starts_no_test(self, there: NewAccounts) -> None:
        there.person.invite(CHANNEL)
        there.dotenv.write_text(there.dotenv.read_text() + "".join(f"{a}={b}\n" for a, b in TOKENS.items()))
        with open_init(there, *ANSWERS, "--history", "0") as terminal:
            code = terminal.wait_for(r"send it (\d{6})")[1]
            there.slack.socket.wait_for_connections(1, 30)
            there.person.send_message(f"{int(code) ^ 1:06}", there.direct_messages)
            # everybody in the channel reads it there
            there.person.send_message(code, CHANNEL)
            terminal.type_text("\n")
            assert terminal.wait_for_end() == 0
        assert [each for each in there.slack.list_messages(there.direct_messages) if "bot_id" in each] == []

    def test_a_refused_token_can_be_replaced_where_it_is_refused(self, there: NewAccounts) -> None:
        there.person.invite(CHANNEL)
        old = TOKENS | {"SLACK_BOT_TOKEN": BOT[:-4] + "XXXX"}
        there.dotenv.write_text(there.dotenv.read_text() + "".join(f"{a}={b}\n" for a, b in old.items()))
        with open_init(there, *ANSWERS, "--history", "0") as terminal:
            terminal.wait_for("Slack token: refused|rejected")
            terminal.answer("A new token can be pasted here: ", f"  {BOT}  ")
            terminal.wait_for("Replaced: SLACK_BOT_TOKEN")
            terminal.wait_for("No problems found")

    def test_a_token_at_a_question_that_is_shown_is_kept_and_told(self, there: NewAccounts) -> None:
        with open_init(there) as terminal:
            terminal.answer("owner/name: ", GITHUB)
            terminal.wait_for("That is a token: it is kept as GITHUB_TOKEN. It stands on this screen")
            terminal.answer("owner/name: ", "octo/engine\x1b]0;title\x07")
            terminal.wait_for("is not a repository")
        assert dotenv_values(there.dotenv)["GITHUB_TOKEN"] == GITHUB


@slow
class TestWithoutATerminal:
    def test_options_and_the_environment_answer(self, there: NewAccounts) -> None:
        there.person.invite(CHANNEL)
        there.dotenv.unlink()
        addresses = {"GITHUB_API_URL": there.github.url, "SLACK_API_URL": there.slack.url}
        settings = {**there.settings, **addresses, "ANTHROPIC_BASE_URL": there.claude.url, **TOKENS}
        done = prdigest("init", *ANSWERS, "--history", "2", settings=settings, folder=there.folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert "No problems found" in done.stdout
        assert "2 days: 2 filled" in done.stdout
        assert dotenv_values(there.dotenv) == {
            "PRDIGEST_REPO": "octo/engine",
            "PRDIGEST_CHANNEL": CHANNEL,
            "PRDIGEST_POST_AT": "09:30",
            "PRDIGEST_TIMEZONE": "Europe/Berlin",
        }
        assert stat.S_IMODE(there.dotenv.stat().st_mode) == 0o600

    def test_a_doctor_that_is_not_green_ends_it(self, there: NewAccounts) -> None:
        there.dotenv.write_text(there.dotenv.read_text() + "".join(f"{a}={b}\n" for a, b in TOKENS.items()))
        done = prdigest("init", *ANSWERS, settings=there.settings, folder=there.folder)
        assert done.returncode == 1
        assert "1 problem to fix" in done.stdout


class TestWhatIsMissing:
    def test_one_sentence_says_it(self, call_command: Call, tmp_path: Path) -> None:
        done = call_command("init", settings={})
        assert (done.returncode, done.stdout, done.stderr) == (
            2,
            "",
            (
                "There is no terminal to ask on. Missing: --repo, --channel, in the environment GITHUB_TOKEN and "
                "SLACK_BOT_TOKEN and SLACK_APP_TOKEN.\n"
            ),
        )
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("--repo", "octo/engine\nSLACK_API_URL=https://evil.example"),
            ("--repo", "../engine"),
            ("--channel", "#digest"),
            ("--channel", "https://evil.example/archives/c1\n"),
            ("--channel", "C1 # x"),
            ("--at", "noon"),
            ("--at", "09:00 ../../etc/passwd"),
            ("--at", " "),
            ("--model", "claude\n"),
            ("--model", "${HOME}"),
        ],
    )
    def test_an_answer_that_is_none_is_refused_and_written_nowhere(
        self, call_command: Call, tmp_path: Path, option: str, value: str
    ) -> None:
        done = call_command("init", option, value, settings={})
        assert done.returncode == 2
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.stderr)
        assert not (tmp_path / ".env").exists() or (option, value) == ("--model", "claude\n")


class TestTheFile:
    def test_what_is_there_stays_also_comments_and_lines_that_are_none(
        self, call_command: Call, tmp_path: Path
    ) -> None:
        file = tmp_path / ".env"
        before = "# mine\nexport OTHER='a b'\nPRDIGEST_REPO=\n  strange\nPRDIGEST_NAME=The Engine"
        file.write_text(before)
        file.chmod(0o644)
        call_command("init", "--repo", "octo/engine", "--at", "17:05", settings={})
        expected = before.replace("PRDIGEST_REPO=", "PRDIGEST_REPO=octo/engine")
        assert file.read_text() == f"{expected}\nPRDIGEST_POST_AT=17:05\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    def test_another_value_is_replaced_only_if_that_is_wanted(self, call_command: Call, tmp_path: Path) -> None:
        file = tmp_path / ".env"
        file.write_text("PRDIGEST_REPO=octo/other\n")
        done = call_command("init", "--repo", "octo/engine", settings={})
        assert done.stderr == ".env has another PRDIGEST_REPO: add --replace to change it.\n"
        assert file.read_text() == "PRDIGEST_REPO=octo/other\n"
        call_command("init", "--repo", "octo/engine", "--replace", settings={})
        assert file.read_text() == "PRDIGEST_REPO=octo/engine\n"

    def test_a_link_is_not_followed(self, call_command: Call, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_text("")
        (tmp_path / ".env").symlink_to(tmp_path / "elsewhere")
        done = call_command("init", "--repo", "octo/engine", settings={})
        assert (done.returncode, done.stderr) == (2, ".env is not an ordinary file: move it away.\n")
        assert (tmp_path / "elsewhere").read_text() == ""

    def test_a_folder_and_bytes_that_are_no_text_are_told_in_a_sentence(
        self, call_command: Call, tmp_path: Path
    ) -> None:
        (tmp_path / ".env").write_bytes(b"\xff\xfe")
        assert call_command("init", "--repo", "octo/engine", settings={}).stderr == (
            ".env can't be used: save it as UTF-8 text.\n"
        )

    def test_a_value_that_cannot_be_used_is_asked_for_again(self, call_command: Call, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("PRDIGEST_CHANNEL=#digest\nPRDIGEST_REPO=octo/engine\n")
        assert "Missing: --channel, in" in call_command("init", settings={}).stderr


class TestTokens:
    @pytest.mark.parametrize("name", TOKENS)
    @pytest.mark.parametrize("form", ["{}", " {}\r\n", "'{}'", "{0}\n{0}", "`{}`", "\x1b[200~{}\x1b[201~"])
    def test_each_is_known_by_how_it_begins_however_it_is_pasted(self, name: str, form: str) -> None:
        assert find_tokens(form.format(TOKENS[name])) == {name: TOKENS[name]}

    def test_all_at_once_in_any_order_with_their_names(self) -> None:
        text = "\n".join(f"export {name}={token}  " for name, token in reversed(TOKENS.items()))
        assert find_tokens(text) == TOKENS

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "\0",
            "xoxb-",
            "xoxp-" + "a1" * 20,
            "xoxb-1234567890123456\u0430",
            "ghp_${HOME}" + "a" * 30,
            "x" * 30_000,
        ],
    )
    def test_what_is_no_whole_token_is_none(self, text: str) -> None:
        assert find_tokens(text) == {}

    def test_a_token_that_slack_renews_is_one(self) -> None:
        assert find_tokens(f"xoxe.{BOT}") == {"SLACK_BOT_TOKEN": f"xoxe.{BOT}"}

    def test_every_token_has_a_setting_that_takes_its_beginning(self) -> None:
        # what is found can be used as it is written, without quotation marks
        for name, token in TOKENS.items():
            assert re.fullmatch(r"[\w-]+", token)
            settings = Settings(**{name.lower(): token})  # type: ignore[arg-type]
            assert getattr(settings, name.lower()).get_secret_value() == token


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("9", {"PRDIGEST_POST_AT": "09:00"}),
        ("5:30 pm", {"PRDIGEST_POST_AT": "17:30"}),
        ("9am UTC", {"PRDIGEST_POST_AT": "09:00", "PRDIGEST_TIMEZONE": "UTC"}),
        ("9:15 PM America/New_York", {"PRDIGEST_POST_AT": "21:15", "PRDIGEST_TIMEZONE": "America/New_York"}),
    ],
)
def test_a_time_may_have_a_zone(text: str, values: dict[str, str]) -> None:
    assert init._parse_post_time(text) == values


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../../etc/passwd", "a" * 200])
def test_a_machine_without_a_zone_that_exists_is_in_utc_or_its_own(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TZ", name)
    zone = init._find_zone()
    assert zone == "UTC" or not name


def test_a_link_to_a_channel_is_one() -> None:
    for link in ("https://a.slack.com/archives/C0123AB", "https://app.slack.com/client/T01/C0123AB/thread?x"):
        assert init._parse_channel(f" {link} ") == {"PRDIGEST_CHANNEL": "C0123AB"}
    with pytest.raises(UsageError, match="is not a channel"):
        init._parse_channel("https://a.slack.com/archives/C0123AB\nX=1")
