"""For the tests of a bot: calls that fail on purpose, Socket Mode, and what a reader of the page's HTML sees."""
