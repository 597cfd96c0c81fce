"""Who gets which digest, and when."""
