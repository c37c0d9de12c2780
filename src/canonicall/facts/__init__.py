"""Who speaks which wire format, with which rules: profiles as data, registry, capability matrix."""
