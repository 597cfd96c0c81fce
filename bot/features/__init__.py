"""What the product does, a folder for each feature."""
