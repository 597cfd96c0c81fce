"""Block Kit, Markdown and terminal text: the parts of all messages."""
