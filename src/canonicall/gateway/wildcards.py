"""Names in which `*` stands for anything: of models, in routes and in what a key may ask for."""


def fits(pattern: str, name: str) -> bool:
    """Whether `name` is what `pattern` says.

    Each part between two stars is taken where it first occurs: no other choice can do better, so
    there is nothing to try again, whatever a client calls its model.
    """
    first, *parts = pattern.split("*")
    if not parts:
        return name == pattern
    last = parts.pop()
    end = len(name) - len(last)
    if not name.startswith(first) or not name.endswith(last) or end < len(first):
        return False
    at = len(first)
    for part in parts:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
