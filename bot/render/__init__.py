"""Values as text for people: Block Kit, the Markdown report, the terminal."""
