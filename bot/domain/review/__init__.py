"""The second reading of a merged pull request: a review for bugs, and what it does to the rank."""
