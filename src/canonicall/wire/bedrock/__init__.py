"""AWS Bedrock: the Converse API."""

from canonicall.facts.bases import base_target

FORMAT = "bedrock"
TARGET = base_target(FORMAT)
