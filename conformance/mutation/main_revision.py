"""The revision in which proof is made, that of the kit's doctor, and its messages.

What an older one demanded and this one does not any more is broken in its own (``faults.retired``).
"""

from siconform.doctor.revision import NAME, si

__all__ = ["NAME", "si"]
