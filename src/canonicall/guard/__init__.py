"""Arguments of a call, before it is run, and what its tool gave back."""
