"""The program that makes the sample's profile and contracts from a clone of vLLM."""
