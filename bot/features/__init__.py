"""What people see of the bot: each feature is one to five files that one reads from top to bottom."""
