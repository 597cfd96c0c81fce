"""A Slack on the loopback: its Web API with the limits and the errors of the real one, and people who use it.

It knows nothing of the bot. The sandbox shows it in a browser, and the tests of the bot run against it.
"""
