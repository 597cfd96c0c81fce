"""What merges revert and repair, by what people wrote."""
