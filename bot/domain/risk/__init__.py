"""The risk of merged pull requests: which deserve a second look."""
