"""Operation of the bot: cost, runs, incidents and health."""
