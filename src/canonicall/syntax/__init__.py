"""Calls printed in text: each model's own syntax, read as it streams and printed again."""
