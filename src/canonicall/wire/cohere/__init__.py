"""Cohere: the chat API, version 2."""

from canonicall.facts.bases import base_target

FORMAT = "cohere"
TARGET = base_target(FORMAT)
