"""The rules that judge a pair of change and use, by what happened to the name and by who uses it."""
