"""What the tests start processes with."""
