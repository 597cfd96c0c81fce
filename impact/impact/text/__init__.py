"""Short texts and dates."""
