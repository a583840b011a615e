"""Access control lists in YuniKorn's notation: `alice,bob developers,operators`.

Source: yunikorn-core 1.5.1 `common/security/acl.go`. It ignores invalid names; here they are
problems.
"""

from sireference.configuration.model import Acl
from sireference.configuration.names import WILDCARD, read_group, read_user
from sireference.configuration.problems import quoted

_MOST_LISTS = 2  # users, then groups


def read_acl(text: str) -> Acl:
    """Read a list of users, a space, a list of groups; `*` allows everybody, empty no user.

    Groups alone follow a space. Raises ValueError with a clause as reason.
    """
    lists = text.rstrip().split(" ")
    if len(lists) > _MOST_LISTS:
        raise ValueError(f"{quoted(text)} has more than one space: users, a space, groups")
    users = _names(lists[0])
    groups = _names(lists[1]) if len(lists) == _MOST_LISTS else []
    if [WILDCARD] in (users, groups):
        return Acl(all=True)
    return Acl(frozenset(map(read_user, users)), frozenset(map(read_group, groups)))


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
