"""``/prdigest since``, ``deprecations`` and ``upgrade``: for people who come back or move on."""

from bot.features.touches.contracts import LEDGERS
from impact.contract.deprecations import DeprecationLedger, update_ledger
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from tests.emulators.github.store import changed_file, sha
from tests.helpers.apps import make_app
from tests.helpers.world import as_read
from tests.scenarios import Bot
from tests.scenarios.commands.test_contract import ask, profile, removal


def deprecate(bot: Bot, repository: str, *names: str) -> None:
    """A ledger in which names are deprecated."""
    rows = tuple(
        ContractChange(
            ContractClass.FUNCTION, ChangeKind.DEPRECATED, name, "", "", "a.py", 1, deadline=Deadline("v1.2", "go")
        )
        for name in names
    )
    ledger = update_ledger(DeprecationLedger(), [MergeContract(5, "c" * 40, bot.noon(3), changes=rows)])
    make_app(bot.store).tables.put(LEDGERS, ledger, repository.lower())


def test_a_page_since_a_day_is_made_of_what_is_known(bot: Bot) -> None:
    repository = bot.repository()
    numbers = [
        bot.pull(repository, merged_at=bot.noon(day), title=title, files=(changed_file("engine/core.py"),))
        for day, title in ((4, "[1/N] Router moves"), (3, "[2/N] Router goes"), (2, "Count once"))
    ]
    _, asked = bot.calls()
    text = as_read(ask(bot, f"since {bot.noon(6):%Y-%m-%d} repo:{repository}"))
    assert "In several steps" in text
    assert f"#{numbers[1]} [2/N] Router goes, after #{numbers[0]}" in text
    assert f"#{numbers[2]} Count once" in text
    assert "I couldn't read 3 of 3 summaries (nobody has asked for them yet), so there may be more." in text
    # no model is asked
    assert bot.calls()[1] == asked


def test_what_touches_a_profile_comes_first(bot: Bot) -> None:
    repository = bot.repository()
    number = removal(bot, repository)
    profile(bot, repository, "away")
    day = f"{bot.noon(6):%Y-%m-%d}"
    text = as_read(ask(bot, f"since {day} repo:{repository} profile:away"))
    assert "1 of 1 merges' code (nobody has asked about it yet), so there may be more." in text
    ask(bot, "touches profile:away")
    text = as_read(ask(bot, f"since {day}..{bot.noon(0):%Y-%m-%d} repo:{repository} profile:away"))
    assert f"#{number} plugin/worker.py:7 breaks: core.stop is gone" in text
    assert "merges' code" not in text


def test_deprecations_are_listed_with_our_lines(bot: Bot) -> None:
    repository = bot.repository()
    text = as_read(ask(bot, f"deprecations repo:{repository}"))
    assert "so I can't tell." in text
    assert "0 deprecations" not in text
    deprecate(bot, repository, "engine.core.stop", "engine.core.other")
    profile(bot, repository, "moving")
    text = as_read(ask(bot, f"deprecations repo:{repository} profile:moving"))
    assert "so there may be more." in text
    assert "engine.core.stop to go in v1.2, use go (#5) · used at plugin/worker.py:7" in text
    assert text.index("engine.core.stop") < text.index("engine.core.other")


def test_reading_a_merge_writes_the_ledger(bot: Bot) -> None:
    repository = bot.repository()
    deprecate(bot, repository, "engine.core.stop")
    number = removal(bot, repository)
    ask(bot, f"contract repo:{repository}")
    text = as_read(ask(bot, f"deprecations repo:{repository}"))
    assert "Removed" in text
    assert f"#{number}" in text


def pin_repository(bot: Bot, name: str) -> tuple[str, int, int]:
    repository = bot.repository()
    pin = bot.pull(repository, merged_at=bot.noon(4), files=(changed_file("README.md"),))
    number = removal(bot, repository)
    profile(bot, repository, name)
    return repository, pin, number


def test_the_asker_alone_gets_no_file_and_reads_how_to_get_it(bot: Bot) -> None:
    _, pin, _ = pin_repository(bot, "alone")
    person, files = bot.person(), len(bot.world.slack.files)
    person.send_command("/prdigest", f"upgrade {sha(f'merge {pin}')} profile:alone private", bot.channel())
    (notice,) = bot.list_whispers(person)
    assert "Slack shows no file to one person alone." in as_read(notice)
    assert len(bot.world.slack.files) == files


def test_an_upgrade_without_a_pin_asks_for_it(bot: Bot) -> None:
    repository = bot.repository()
    bot.pull(repository)
    profile(bot, repository, "pinless")
    person, channel = bot.person(), bot.channel()
    person.send_command("/prdigest", "upgrade profile:pinless", channel)
    (notice,) = bot.list_whispers(person)
    assert "Which commit does pinless use?" in notice["text"]
    person.send_command("/prdigest", f"upgrade from:{'9' * 40} profile:pinless", channel)
    assert "no merge" in bot.list_whispers(person)[-1]["text"]
    person.send_command("/prdigest", "upgrade v9.9.9 profile:pinless", channel)
    assert "'v9.9.9' is no tag" in bot.list_whispers(person)[-1]["text"]
