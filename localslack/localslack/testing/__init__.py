"""For the tests of a bot: planned failures, Socket Mode, and the page's HTML as its reader sees it."""
