"""What a model says of a pull request, and what code can verify of it."""
