"""What broke us: pasted errors, and the contract changes that explain them."""
