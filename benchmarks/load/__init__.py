"""How much the bot carries: acknowledgements, answers, mornings, an hour of questions, a month."""
