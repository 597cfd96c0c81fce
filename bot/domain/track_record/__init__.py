"""The track record of the bot's own lists."""
