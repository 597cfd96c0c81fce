"""The bot itself: what it spends, its runs, incidents and health."""
