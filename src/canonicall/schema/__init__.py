"""Tool schemas between dialects: what a target does not take is said otherwise, or reported."""
