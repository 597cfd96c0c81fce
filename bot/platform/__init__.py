"""What the features stand on, one room for each vendor."""
