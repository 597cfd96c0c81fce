"""Services for the bot itself: deadlines, costs and health."""
