"""The methods of the Web API, and the addresses that answers go to."""
