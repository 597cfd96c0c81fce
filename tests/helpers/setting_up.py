"""What somebody has who sets a bot up: a folder, and accounts whose tokens look like real ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from localslack.socket_mode import SocketTransport
from localslack.users.person import Person

from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.processes.terminal import Terminal
from tests.helpers.world import CHANNEL, add_yesterday

TOKENS = {
    "SLACK_BOT_TOKEN": "xoxb-" + "1234567890" * 2 + "-abcdEFGH",
    "SLACK_APP_TOKEN": "xapp-1-A0TEST-" + "1234567890" * 2 + "-abcdef",
    "GITHUB_TOKEN": "ghp_" + "abcdEFGH1234" * 3,
    "ANTHROPIC_API_KEY": "sk-ant-api03-" + "abcdEFGH1234" * 3,
}


@dataclass(frozen=True)
class NewAccounts:
    """Services of a person, ``folder`` of the set-up, and the variables of the process that is started there."""

    github: GitHubEmulator
    claude: ClaudeEmulator
    slack: SlackEmulator
    person: Person
    folder: Path
    settings: dict[str, str]

    @property
    def dotenv(self) -> Path:
        return self.folder / ".env"

    @property
    def direct_messages(self) -> str:
        return f"D{self.person.user[1:]}"

    def send_code(self, terminal: Terminal) -> None:
        """Send the code that the terminal shows, as a direct message."""
        code = terminal.wait_for(r"send it (\d{6})")[1]
        self.slack.socket.wait_for_connections(1, 30)
        self.person.send_message(code, self.direct_messages)


@contextmanager
def open_new_accounts(folder: Path) -> Iterator[NewAccounts]:
    """Yield accounts with a repository, and a workspace in which the bot is in no channel yet.

    ``.env`` has nothing but the addresses of the services: they stand where the real ones are on other machines.
    """
    with ExitStack() as stack:
        github = stack.enter_context(GitHubEmulator(TOKENS["GITHUB_TOKEN"]))
        claude = stack.enter_context(ClaudeEmulator(TOKENS["ANTHROPIC_API_KEY"]))
        bot_token, app_token = TOKENS["SLACK_BOT_TOKEN"], TOKENS["SLACK_APP_TOKEN"]
        slack = stack.enter_context(SlackEmulator(bot_token, now=time.time, app_token=app_token))
        slack.remove_bot(CHANNEL)
        add_yesterday(github)
        person = Person(slack, SocketTransport(slack.socket), user="U0ADA")
        slack.add_channel("D0ADA", "ada")
        work = folder / "work"
        work.mkdir()
        addresses = {"GITHUB_API_URL": github.url, "ANTHROPIC_BASE_URL": claude.url, "SLACK_API_URL": slack.url}
        (work / ".env").write_text("".join(f"{name}={value}\n" for name, value in addresses.items()))
        settings = {"HOME": str(folder), "PRDIGEST_STATE_DIR": str(folder / "state"), "TZ": "Europe/Berlin"}
        yield NewAccounts(github, claude, slack, person, work, settings)
