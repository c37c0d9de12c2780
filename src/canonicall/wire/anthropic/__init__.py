"""The Anthropic Messages API (`/v1/messages`), as Claude and compatible hosts speak it."""
