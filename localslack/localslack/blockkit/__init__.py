"""Slack's messages and views as HTML for the browser, without a server: values in, escaped HTML out."""

from localslack.blockkit.markdown import markdown_html, report_html
from localslack.blockkit.mrkdwn import mrkdwn_html
from localslack.blockkit.names import Names
from localslack.blockkit.render import message_html, view_html

__all__ = ["Names", "markdown_html", "message_html", "mrkdwn_html", "report_html", "view_html"]
