"""The HTTP gateway: four front doors, every provider behind."""
