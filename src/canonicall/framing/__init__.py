"""Bytes to frames: how providers cut a stream into messages. Any split of the bytes is the same."""
