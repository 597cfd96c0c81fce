"""What model calls cost, as people read it."""
