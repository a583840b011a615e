"""Compatible alternatives to a breaking change."""

from sispec.changes import Change, Kind
from sispec.cross_decoding import Exchange, split
from sispec.naming import Rename
from sispec.schema import Reserved

_PLAIN = {
    Kind.PACKAGE: "Keep the package: it is part of the path of every rpc.",
    Kind.OPTION: "Announce it: code that imports the generated code has to change the import.",
    Kind.SERVICE_REMOVED: "Keep the service until no peer calls it any more.",
    Kind.METHOD_REMOVED: "Keep the rpc until no peer calls it any more, and let it answer.",
    Kind.METHOD_TYPES: "Add an rpc with another name, and keep this one unchanged.",
    Kind.METHOD_STREAMING: "Add an rpc with another name, and keep this one unchanged.",
    Kind.MESSAGE_REMOVED: "Mark it deprecated first, and remove it when no peer sends it any more.",
    Kind.ENUM_REMOVED: "Mark it deprecated first, and remove it when no peer sends it any more.",
    Kind.FIELD_ROLE: "Add a new field for a new role; ignore this if only the wording changed.",
    Kind.EXTENSION_REMOVED: "Keep the extension while any schema uses it.",
    Kind.EXTENSION_CHANGED: "Add another extension, and keep this one unchanged.",
    Kind.API_REMOVED: "Keep the method, marked deprecated, for one release.",
    Kind.API_ADDED: "Announce it: every implementation of the interface has to add the method.",
    Kind.API_RENAMED: "Keep the name, or announce it: code that uses the interface has to change.",
    Kind.API_SIGNATURE: "Add a method with another name, and keep this one unchanged.",
}


def advice(change: Change, exchange: Exchange) -> str:
    """Return the alternative to `change` in one or two sentences; "" if there is none."""
    if change.kind in _PLAIN:
        return _PLAIN[change.kind]
    of_kind = {
        Kind.FIELD_ADDED: _on_added,
        Kind.VALUE_ADDED: _on_added,
        Kind.FIELD_REMOVED: _on_removed,
        Kind.VALUE_REMOVED: _on_removed,
        Kind.FIELD_NUMBER: _on_renumbered,
        Kind.VALUE_NUMBER: _on_renumbered,
        Kind.FIELD_REPLACED: _on_replaced,
        Kind.VALUE_REPLACED: _on_replaced,
        Kind.FIELD_RENAMED: _on_renamed,
        Kind.VALUE_RENAMED: _on_renamed,
    }.get(change.kind)
    if of_kind is not None:
        return of_kind(change, exchange)
    return _on_details(change, exchange)


def _on_added(change: Change, exchange: Exchange) -> str:
    declaration, name = split(change.where)
    free = exchange.next_free(change)
    number = exchange.number(change)
    if free == number:
        return ""  # the number is new; misreadings come from other changes
    if exchange.is_alias(change):
        former = exchange.named(declaration, number)
        return f"Put {name} behind {former}: JSON has the first name of a number."
    text = f"Append {name} as {free}"
    if not exchange.reserved(declaration).holds(number) and not _owned_now(exchange, change):
        text = f"{text}; reserve {number}"
    owner = exchange.former_owner(change)
    if owner is not None:
        text = f"{text}: it was {owner}"
    return f"{text}."


def _on_removed(change: Change, exchange: Exchange) -> str:
    declaration, name = split(change.old_place)
    now = exchange.pairs[declaration]
    number = exchange.old_number(change)
    missing = Reserved(frozenset({(number, number)}), frozenset({name})).without(
        exchange.reserved(now)
    )
    if exchange.is_alias(change):
        return f"Keep {name}, marked deprecated, for one release."
    taker = next((n for n, k in exchange.members(now) if k == number), "")
    if taker:
        return f"Reserve {missing} in {now}, and give {taker} a number of its own."
    kept = f"Keep {name} = {number}, marked deprecated, until no peer sends it any more"
    return f"{kept}; then reserve {missing} in {now}." if str(missing) else f"{kept}."


def _on_renumbered(change: Change, exchange: Exchange) -> str:
    declaration, name = split(change.where)
    was = exchange.old_number(change)
    taker = next((n for n, k in exchange.members(declaration) if k == was and n != name), "")
    if not taker:
        return f"Keep {name} = {was}: a number is never moved."
    before = dict(exchange.old_members(declaration))
    if taker in before:
        return f"Keep {name} = {was} and {taker} = {before[taker]}: a number is never moved."
    free = exchange.next_free(change)
    return f"Keep {name} = {was}, and append {taker} as {free}."


def _on_replaced(change: Change, exchange: Exchange) -> str:
    _, name = split(change.where)
    _, former = split(change.old_place)
    free, number = exchange.next_free(change), exchange.number(change)
    return f'Append {name} as {free}; keep {former} = {number}, or reserve {number}, "{former}".'


def _on_renamed(change: Change, exchange: Exchange) -> str:
    declaration, name = split(change.where)
    _, former = split(change.old_place)
    if change.kind is Kind.VALUE_RENAMED:
        number = exchange.number(change)
        return f"Keep {former}, or have both names for {number} (option allow_alias) for a while."
    field = exchange.after.messages[declaration].fields[name]
    was = exchange.before.messages[split(change.old_place)[0]].fields[former]
    if was.json_name == field.json_name:
        return "Announce it: generated code and users of the schema's name have to change."
    why = "" if change.rename is Rename.NAME else " once no peer reads JSON with the old name"
    return (
        f'Write {field.type} {name} = {field.number} [json_name = "{former}"] to keep the JSON'
        f"{', and drop that' + why if why else ''}."
    )


def _on_details(change: Change, exchange: Exchange) -> str:
    _, name = split(change.where)
    if change.kind is Kind.RESERVED_REMOVED:
        return f"Keep {change.old} reserved in {change.where}."
    if change.kind in (Kind.FIELD_TYPE, Kind.FIELD_CARDINALITY):
        free = exchange.next_free(change)
        former = exchange.before.messages[split(change.old_place)[0]]
        was = former.fields[split(change.old_place)[1]]
        now = exchange.after.messages[split(change.where)[0]].fields[name]
        kept = f"{was.cardinality} {was.type} {was.name} = {was.number}".strip()
        wanted = f"{now.cardinality} {now.type}".strip()
        return f"Keep {kept}, and append a field ({wanted}) as {free} under another name."
    if change.kind is Kind.CONSTANT_VALUE:
        return _on_constant(change)
    if change.kind in (Kind.CONSTANT_REMOVED, Kind.CONSTANT_RENAMED):
        return f"Keep {split(change.old_place)[1]}, marked deprecated, for one release."
    return {
        Kind.FIELD_ONEOF: f"Leave {name} where it was: a new oneof is for new fields only.",
        Kind.FIELD_JSON_NAME: f'Keep json_name = "{change.old}".',
        Kind.MESSAGE_RENAMED: f"Keep the name {change.old}, or announce it.",
        Kind.ENUM_MOVED: f"Leave it where it was, as {change.old}, or announce it.",
    }.get(change.kind, "")


def _on_constant(change: Change) -> str:
    if change.taken_from:
        meant = f'"{change.new}" is what {change.taken_from} stands for'
        return f'Keep {change.old_place} = "{change.old}": {meant}.'
    if change.was:
        return f'Keep {change.was} = "{change.old}" as well until no peer looks for it.'
    return f'Add another constant for "{change.new}", and keep {change.where} unchanged.'


def _owned_now(exchange: Exchange, change: Change) -> bool:
    """Whether the number belongs to something in the old specification that the new one keeps."""
    declaration, name = split(change.where)
    number = exchange.number(change)
    now = {n for n, k in exchange.members(declaration) if n != name}
    was = [n for n, k in exchange.old_members(declaration) if k == number]
    return any(n in now for n in was)
