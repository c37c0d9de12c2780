"""The Anthropic Messages API (`/v1/messages`), as Claude and compatible hosts speak it."""

from canonicall.facts.bases import base_target

FORMAT = "anthropic"
TARGET = base_target(FORMAT)
