"""How good a ranking of merged pull requests is: figures, their intervals, and what follows from them."""
