"""Bodies and streams of any format to canonical form and back: where the parts meet."""
