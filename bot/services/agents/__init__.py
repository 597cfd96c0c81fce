"""What the tools of other people's agents read: the same sources as answers have, and no model."""
