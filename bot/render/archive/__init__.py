"""The archive as pages and feeds. Templates escape by themselves, and Markdown becomes HTML without links."""
