"""What is read of a session, for the tests of every agent."""

from canonicall import read_document

PROVIDERS = ("anthropic", "openai", "gemini", "mistral")


def conversation(data):
    return read_document(data).request.conversation


def told(data):
    return [(message.role, message.text) for message in conversation(data).messages]


def codes(data):
    return [finding.code for finding in read_document(data).findings]
