"""What the bot does for someone, a package for each capability."""
