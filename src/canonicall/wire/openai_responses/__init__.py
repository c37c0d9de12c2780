"""The OpenAI Responses API (`POST /v1/responses`), also spoken by Azure, xAI and others."""
