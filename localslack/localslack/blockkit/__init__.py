"""Slack's messages and views as HTML for the browser, without a server: values in, escaped HTML out."""

from localslack.blockkit.markdown import render_document, render_markdown
from localslack.blockkit.mrkdwn import render_mrkdwn
from localslack.blockkit.names import Names
from localslack.blockkit.render import render_message, render_view

__all__ = ["Names", "render_document", "render_markdown", "render_message", "render_mrkdwn", "render_view"]
