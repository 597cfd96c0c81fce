import re
import urllib.request
from pathlib import Path

from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.processes.command import prdigest
from tests.scenarios import Bot


def answers_command(bot: Bot) -> bool:
    number, channel = bot.pull(), bot.channel()
    ack = bot.person().send_command("/prsummary", str(number), channel).ack
    return (ack.status, ack.text) == (200, "") and len(bot.list_posts(channel)) == 1


def test_after_slack_has_refreshed_the_connection_requests_are_answered(socket_bot: Bot) -> None:
    socket_bot.world.slack.socket.wait_for_connections()
    socket_bot.world.slack.socket.disconnect()
    socket_bot.world.slack.socket.wait_for_connections(seconds=10)
    assert answers_command(socket_bot)


def test_after_the_connection_broke_requests_are_answered(socket_bot: Bot) -> None:
    socket_bot.world.slack.socket.wait_for_connections()
    socket_bot.world.slack.socket.drop_connection()
    # at once, or where the client misses the reset, when six of its pings had no answer
    socket_bot.world.slack.socket.wait_for_connections(seconds=30)
    assert answers_command(socket_bot)


def test_its_requests_are_counted(socket_bot: Bot) -> None:
    assert answers_command(socket_bot)
    address = re.search(r"http://127\.0\.0\.1:\d+/metrics", socket_bot.log())
    assert address
    with urllib.request.urlopen(address[0], timeout=10) as response:
        metrics = response.read().decode()
    counted = 'prdigest_slack_requests_total{kind="command",result="acknowledged",transport="socket"}'
    assert counted in metrics


def test_there_is_no_door_for_requests_over_http(socket_bot: Bot) -> None:
    assert socket_bot.get("/healthz") == 200
    assert socket_bot.http.send("slash_commands", {"command": "/prsummary"}).status == 404


def test_an_app_token_that_is_refused_is_one_sentence(socket_bot: Bot, tmp_path: Path) -> None:
    settings = {**socket_bot.world.settings, "SLACK_APP_TOKEN": "xapp-wrong", "PORT": str(closed_port())}
    done = prdigest("web", settings=settings, folder=tmp_path)
    assert done.returncode in {1, 2}
    sentence = done.stderr.strip().split("\n")[-1]
    assert "SLACK_APP_TOKEN" in sentence
    assert is_one_sentence(sentence)
    assert "Traceback" not in done.stderr
    assert "xapp-wrong" not in done.stderr
