"""What merges mean for a team, as messages, tables and texts."""
