"""Slack's messages and views as HTML for the browser, without a server: values in, escaped HTML out."""

from bot.sandbox.blockkit.markdown import markdown_html, report_html
from bot.sandbox.blockkit.mrkdwn import mrkdwn_html
from bot.sandbox.blockkit.names import Names
from bot.sandbox.blockkit.show import message_html, view_html

__all__ = ["Names", "markdown_html", "message_html", "mrkdwn_html", "report_html", "view_html"]
