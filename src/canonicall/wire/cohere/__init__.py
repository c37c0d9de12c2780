"""Cohere: the chat API, version 2."""
