"""The loop of an agent as a machine: inputs in, commands out; nothing is awaited or run here."""
