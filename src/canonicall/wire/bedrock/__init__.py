"""AWS Bedrock: the Converse API."""
