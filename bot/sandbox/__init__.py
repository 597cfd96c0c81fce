"""What a reader can try without an account: the sample day."""
