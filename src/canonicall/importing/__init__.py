"""Read what others stored: any transcript in, a canonical request out, with its format told."""
