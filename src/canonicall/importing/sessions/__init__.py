"""The session files of coding agents: each agent's file says how it stores a conversation."""
