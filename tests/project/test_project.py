import json
import re
from dataclasses import replace

from bot.cli import cli
from bot.demo.sample.sources import SAMPLE_NOTE, SampleSources
from bot.platform.slack.app_manifest import LINK_EVENT, add_previews
from handlers import COMMANDS
from handlers.summaries import SHORTCUTS
from tests.helpers.builders import SHARED, needs_shared
from tests.helpers.data.golden import answers_of
from tests.helpers.processes.command import ROOT
from tests.project.tools.manifest_check import find_faults


class TestManifest:
    manifest = json.loads((ROOT / "manifest.json").read_text())

    def test_its_texts_keep_slacks_limits(self) -> None:
        shown = self.manifest["display_information"]
        assert len(shown["name"]) <= 35
        assert len(shown["description"]) <= 140
        assert 175 <= len(shown["long_description"]) <= 4000

    def test_it_names_exactly_the_commands_that_are_declared(self) -> None:
        assert find_faults(self.manifest, COMMANDS) == []
        assert all(len(command.name) <= 32 for command in COMMANDS)
        assert all(len(command.description) <= 2_000 and len(command.hint) <= 1_000 for command in COMMANDS)

    def test_a_command_that_it_lacks_or_that_nobody_declares_is_one_clear_sentence(self) -> None:
        fewer, last = COMMANDS[:-1], COMMANDS[-1]
        [unknown] = find_faults(self.manifest, fewer)
        assert unknown == f"manifest.json names {last.name}, which is not declared: take it out of slash_commands."
        [changed] = find_faults(self.manifest, (*fewer, replace(last, hint="[7d]")))
        assert changed.startswith(f"manifest.json says other things of {last.name} than its declaration: write {{")
        assert '"usage_hint": "[7d]"' in changed

    def test_it_names_exactly_the_shortcuts_that_are_declared(self) -> None:
        [unknown] = find_faults(self.manifest, COMMANDS, SHORTCUTS[:1])
        last = SHORTCUTS[1]
        assert (
            unknown == f"manifest.json names {last.callback_id}, which is not declared: take it out of shortcuts."
        )
        [changed] = find_faults(self.manifest, COMMANDS, (SHORTCUTS[0], replace(last, name="Ask")))
        assert changed.startswith(f"manifest.json says other things of {last.callback_id} than its declaration: ")
        [lacking] = find_faults(self.manifest, COMMANDS, (*SHORTCUTS, replace(last, callback_id="more")))
        assert lacking.startswith('manifest.json lacks more: add {"name": ')
        assert all(len(each.name) <= 24 and len(each.description) <= 150 for each in SHORTCUTS)
        assert len({each.callback_id for each in SHORTCUTS}) == len(SHORTCUTS) <= 10

    def test_it_asks_for_what_the_bot_listens_to(self) -> None:
        settings = self.manifest["settings"]
        sources = "".join(path.read_text() for path in sorted((ROOT / "handlers").rglob("*.py")))
        heard = re.findall(r'@\w+\.event\("(\w+)"\)', sources.replace("LINK_EVENT", f'"{LINK_EVENT}"'))
        told = settings["event_subscriptions"]["bot_events"]
        own = ["app_home_opened", "app_mention", "member_joined_channel"]
        assert [name.partition(".")[0] for name in told] == [*own, *["message"] * 4]
        assert LINK_EVENT not in told
        all_told = add_previews(self.manifest, "github.com")["settings"]["event_subscriptions"]["bot_events"]
        assert list(dict.fromkeys(name.partition(".")[0] for name in all_told)) == sorted(heard)
        assert self.manifest["features"]["app_home"]["home_tab_enabled"]
        # without their scopes Slack sends none of them
        kinds = {f"{name.partition('.')[2]}:history" for name in told if name.startswith("message.")}
        assert kinds <= set(self.manifest["oauth_config"]["scopes"]["bot"])
        assert settings["interactivity"]["is_enabled"]
        assert "app_mentions:read" in self.manifest["oauth_config"]["scopes"]["bot"]


def test_the_readme_begins_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    get = "git clone <address of this repository> prdigest && cd prdigest"
    uv = "python3 -m venv .uv && .uv/bin/pip install -q uv"
    demo = ".uv/bin/uv run --no-dev --compile-bytecode prdigest demo"
    assert f"```\n{get}\n{uv} && {demo}\n.uv/bin/uv run pytest\n```" in text


def test_the_readme_speaks_only_of_commands_that_exist() -> None:
    spoken = re.findall(r"(?<![@/])prdigest (\w+) (?:--|\d)", (ROOT / "README.md").read_text())
    assert spoken
    assert set(spoken) <= set(cli.commands)


class TestSample:
    def test_its_facts_add_up(self) -> None:
        digest = SampleSources().build_digest()
        assert len(digest.entries) == 18
        for entry in digest.entries:
            assert entry.pull.merge_time in digest.day
            assert entry.pull.additions == sum(file.additions for file in entry.pull.files or ())
            assert len(entry.summary.headline) <= 120
        times = [entry.pull.merge_time for entry in digest.entries]
        assert times == sorted(times, reverse=True)

    def test_it_says_what_it_is(self) -> None:
        assert "The summaries and AI bug reviews were written for this sample, without a model" in SAMPLE_NOTE

    @needs_shared
    def test_its_facts_are_those_of_the_public_day(self) -> None:
        records = json.loads((SHARED / "replay" / "2026-02-28" / "pulls.json").read_text())["pulls"]
        sample = {entry.number: entry.pull for entry in SampleSources().build_digest().entries}
        assert {record["number"]: record["title"] for record in records} == {
            number: pull.title for number, pull in sample.items()
        }
        assert all(sample[record["number"]].additions == record["additions"] for record in records)

    @needs_shared
    def test_its_prose_is_its_own(self) -> None:
        """No run of eight words is shared with the report of that day."""
        golden = " ".join(
            text
            for answer in answers_of(SHARED / "golden" / "2026-02-28.md").values()
            for text in answer.values()
            if isinstance(text, str)
        )
        theirs = _runs(golden)
        for entry in SampleSources().build_digest().entries:
            summary = entry.summary
            ours = _runs(
                " ".join((summary.what_changed_and_why, summary.technical_impact, summary.potential_risks))
            )
            assert not ours & theirs


def _runs(text: str, length: int = 8) -> set[tuple[str, ...]]:
    words = re.findall(r"[\w'-]+", text.lower())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
