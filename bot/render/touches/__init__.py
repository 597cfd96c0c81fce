"""Messages about what touches a team's code."""
