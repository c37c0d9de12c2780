"""OpenAI Chat Completions, as OpenAI and all compatible hosts speak it."""
