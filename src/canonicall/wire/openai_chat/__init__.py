"""OpenAI Chat Completions, as OpenAI and all compatible hosts speak it."""

from canonicall.facts.bases import base_target

FORMAT = "openai-chat"
TARGET = base_target(FORMAT)
