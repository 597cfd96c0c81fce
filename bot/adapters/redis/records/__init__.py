"""What is kept, each kind by its key."""
