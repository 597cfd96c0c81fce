"""What merges change for others, measured against lists of facts that were checked by hand."""
