"""Ollama: the native chat API, `/api/chat`."""

from canonicall.facts.bases import base_target

FORMAT = "ollama"
TARGET = base_target(FORMAT)
