"""Rules for texts: length, lines, credentials and numbers in them."""
