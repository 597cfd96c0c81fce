"""How good the bot's own lists were."""
