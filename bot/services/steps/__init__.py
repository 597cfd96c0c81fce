"""Steps that Slack's workflows run: each is done once and reported once."""
