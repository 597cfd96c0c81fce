"""Jobs for people who wrote to the bot or pressed a button, other than commands."""

from __future__ import annotations

from bot.app import App
from bot.platform.jobs import job
from bot.platform.slack.access import WELCOMES, Welcome
from bot.platform.slack.answers import Answer
from bot.platform.slack.greetings import Greeting, HelpExample, render_greeting
from bot.platform.slack.messages import Post
from bot.platform.slack.notices import render_ask_window, render_notice
from bot.platform.slack.replies import ModalPresenter, find_permalink
from bot.platform.slack.requests import Audience, SlackRequest


@job("tell")
def send_private_notice(app: App, asker: SlackRequest, sentence: str) -> None:
    app.replies.tell_asker(asker, sentence)


@job("say")
def post_public_notice(app: App, asker: SlackRequest, sentence: str) -> None:
    answer = Answer.for_asker(render_notice(sentence))
    app.replies.give_answer(asker, "say", Audience.CHANNEL, lambda: answer)


@job("greet")
def send_greeting(app: App, asker: SlackRequest, why: Greeting, examples: tuple[HelpExample, ...]) -> None:
    """Send a greeting with help. A user of the direct messages gets it once, also without a message."""
    answer = Answer.for_asker(render_greeting(why, app.repositories.default, examples))
    if asker.message or not asker.is_direct:
        app.replies.give_answer(asker, "greeting", Audience.HERE, lambda: answer)
    else:
        app.replies.give_answer(asker, "greeting", Audience.CHANNEL, lambda: answer)
        app.tables.put(WELCOMES, Welcome(app.now()), asker.user)


@job("help")
def send_help(app: App, asker: SlackRequest, text: str) -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    answer = Answer.for_asker(Post(text, (block,)))
    app.replies.give_answer(asker, "help", Audience.HERE, lambda: answer)


@job("ask_hint")
def explain_asking(app: App, asker: SlackRequest) -> None:
    """Show the asker how to ask about the message whose button they pressed, with its address if Slack gives it.

    A window is seen wherever the message is: a hint would stand at the end of the channel, or in a closed thread.
    """
    window = render_ask_window(find_permalink(app.messenger, asker.channel, asker.message))
    ModalPresenter(app.views, app.replies).open_modal(asker, asker.trigger, window)
