"""What people ask the bot, and threads."""
