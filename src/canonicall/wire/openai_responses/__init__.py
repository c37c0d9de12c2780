"""The OpenAI Responses API (`POST /v1/responses`), also spoken by Azure, xAI and others."""

from canonicall.facts.bases import base_target

FORMAT = "openai-responses"
TARGET = base_target(FORMAT)
