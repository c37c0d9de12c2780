"""The same said in other words: for keywords a target does not have.

Each function takes one schema, without looking inside it, and gives another, and whether that one
still means the same.
"""

from typing import Any

from canonicall.schema.keywords import LIMITS_OF_TYPE, type_of

Schema = dict[str, Any]
_NULL = {"type": "null"}


def const_as_enum(node: Schema) -> Schema:
    """`const` as the only value of an `enum`."""
    if "enum" in node:
        return without(node, "const")
    return {
        "enum" if name == "const" else name: [value] if name == "const" else value
        for name, value in node.items()
    }


def nullable_as_type(node: Schema) -> Schema:
    """OpenAPI's `nullable` as a type, or one more option."""
    plain = without(node, "nullable")
    return or_null(plain) if node["nullable"] is True else plain


def or_null(node: Schema) -> Schema:
    """`node`, or null. What limits the value has to let null pass."""
    if "$ref" in node or "const" in node or "allOf" in node or "oneOf" in node or "not" in node:
        return {"anyOf": [node, _NULL]}
    wider = dict(node)
    kind = node.get("type")
    if isinstance(kind, str) and kind != "null":
        wider["type"] = [kind, "null"]
    elif isinstance(kind, list) and "null" not in kind:
        wider["type"] = [*kind, "null"]
    if isinstance(node.get("enum"), list) and None not in node["enum"]:
        wider["enum"] = [*node["enum"], None]
    options = node.get("anyOf")
    if isinstance(options, list) and _NULL not in options:
        wider["anyOf"] = [*options, _NULL]
    return wider


def options_of_types(node: Schema) -> Schema | None:
    """A list of types as one option for each; None where there are options already."""
    if "anyOf" in node:
        return None
    limits = frozenset[str]().union(*LIMITS_OF_TYPE.values())
    options = []
    for kind in node["type"]:
        own = LIMITS_OF_TYPE.get(kind, frozenset())
        options.append({"type": kind} | {n: v for n, v in node.items() if n in own})
    split: Schema = {}
    for name, value in node.items():
        if name == "type":
            split["anyOf"] = options
        elif name not in limits:
            split[name] = value
    return split


def inclusive(node: Schema) -> tuple[Schema, bool]:
    """Exclusive limits as inclusive ones: exact for integers, a little wider for other numbers."""
    is_exact = True
    for exclusive, limit, step in (
        ("exclusiveMinimum", "minimum", 1),
        ("exclusiveMaximum", "maximum", -1),
    ):
        if exclusive not in node:
            continue
        value = node[exclusive]
        is_whole = node.get("type") == "integer" and isinstance(value, int)
        is_exact = is_exact and is_whole
        value = value + step if is_whole else value
        tighter = max if step > 0 else min
        if isinstance(node.get(limit), (int, float)):
            value = tighter(value, node[limit])
            node = without(node, exclusive) | {limit: value}
        else:
            node = {
                limit if n == exclusive else n: value if n == exclusive else v
                for n, v in node.items()
            }
    return node, is_exact


def one_as_any(node: Schema) -> tuple[Schema, bool] | None:
    """`oneOf` as `anyOf`: the same where no value fits two options. None beside an `anyOf`."""
    if "anyOf" in node:
        return None
    options = node["oneOf"]
    renamed = {"anyOf" if name == "oneOf" else name: value for name, value in node.items()}
    return renamed, are_disjoint(options)


def are_disjoint(options: Any) -> bool:
    """Whether it shows at a glance that no value fits two of the options."""
    if not isinstance(options, list) or not all(isinstance(one, dict) for one in options):
        return False
    if len(options) < 2:
        return True
    kinds = [_kinds(one) for one in options]
    if all(kinds) and len(set().union(*kinds)) == sum(map(len, kinds)):
        return True
    values = [_values(one) for one in options]
    if all(values):
        return len(set().union(*values)) == sum(map(len, values))
    return _is_tagged(options)


def _is_tagged(options: list[Schema]) -> bool:
    """Whether all options demand a property that has other values in each of them."""
    first = options[0].get("required")
    for name in first if isinstance(first, list) else ():
        tags = [_tags(option, name) for option in options]
        if all(tags) and len(set().union(*tags)) == sum(map(len, tags)):
            return True
    return False


def _tags(option: Schema, name: Any) -> set[str]:
    properties, required = option.get("properties"), option.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return set()
    if option.get("type") != "object" or name not in required:
        return set()
    held = properties.get(name)
    return _values(held) if isinstance(held, dict) else set()


def _kinds(option: Schema) -> set[str]:
    kind = option.get("type")
    listed: list[Any] = kind if isinstance(kind, list) else [kind]
    if not all(isinstance(one, str) for one in listed):
        return set()
    # A whole number is a number too.
    return {"number" if one == "integer" else str(one) for one in listed}


def _values(option: Schema) -> set[str]:
    """The texts that an option lists, if it lists texts and nothing else."""
    if "const" in option:
        listed = [option["const"]]
    else:
        found = option.get("enum")
        listed = found if isinstance(found, list) else []
    return set(listed) if listed and all(isinstance(one, str) for one in listed) else set()


def rest_as_items(node: Schema) -> Schema:
    """A tuple as a list whose items are any of those of the tuple."""
    first, rest = node["prefixItems"], node.get("items", True)
    plain = without(node, "prefixItems", "items")
    if rest is True or rest == {}:
        return plain
    options = [*first] if rest is False else [*first, rest]
    unlike = [one for n, one in enumerate(options) if one not in options[:n]]
    plain["items"] = unlike[0] if len(unlike) == 1 else {"anyOf": unlike}
    if rest is False and not isinstance(plain.get("maxItems"), int):
        plain["maxItems"] = len(first)
    return plain


def type_of_values(node: Schema) -> Schema:
    """Listed values with the name of their type."""
    values = [node["const"]] if "const" in node else node.get("enum")
    if not isinstance(values, list) or not values:
        return node
    kinds = list(dict.fromkeys(map(type_of, values)))
    if "number" in kinds:
        kinds = [kind for kind in kinds if kind != "integer"]
    return {"type": kinds[0] if len(kinds) == 1 else kinds, **node}


def without(node: Schema, *names: str) -> Schema:
    return {name: value for name, value in node.items() if name not in names}
