"""The pictures of the README, and the program that takes them."""
