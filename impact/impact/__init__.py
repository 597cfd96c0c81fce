"""What merges of a Python repository change for those who build on it, and what that does to a tree of theirs."""
