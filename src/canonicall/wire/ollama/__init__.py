"""Ollama: the native chat API, `/api/chat`."""
