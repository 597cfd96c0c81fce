"""Block Kit, Markdown and terminal text: the parts that all messages are made of."""
