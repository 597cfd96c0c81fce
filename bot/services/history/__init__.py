"""Services for the history of a repository before and after a day."""
