"""What local clones say: contracts of ranges, plans between pins, and the past replayed and measured."""
