"""The revision used for mutation testing, that of ``siconform doctor``, and its messages.

Mutants of requirements that only older revisions have use those (``mutants.retired``).
"""

from siconform.doctor.revision import NAME, si

__all__ = ["NAME", "si"]
