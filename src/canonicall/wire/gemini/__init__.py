"""Google's generateContent, as the Gemini API and Vertex AI speak it."""

from canonicall.facts.bases import base_target

FORMAT = "gemini"
TARGET = base_target(FORMAT)
PROVIDER = TARGET.provider
