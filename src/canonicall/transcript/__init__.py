"""Canonical state to a transcript that one target accepts. Repair happens here and nowhere else."""
