"""A type checker as a second witness: what it says of a team's tree only after a merge."""
