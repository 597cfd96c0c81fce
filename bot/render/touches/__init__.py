"""Messages about touches: what concerns a team's own code."""
