"""What model calls cost: who is billed, what is left of the budgets, and the ledger behind `/prdigest usage`."""
