"""The methods of the Web API, and the response URLs."""
