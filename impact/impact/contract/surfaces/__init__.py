"""What users, deployers and clients depend on besides Python names: variables, flags, fields, metrics, ops."""
