"""Compiled numerical core: stateless functions on float64 arrays that fill outputs owned by the caller.

Private. The façades (`gssbo.gp`, `gssbo.precision`, `gssbo.selection`, `gssbo.acquisition`) validate, allocate
and name; nothing here checks shapes beyond what memory safety needs.

The vectorised loops are those of the best instruction set that the processor has. The environment variable
GSSBO_INSTRUCTION_SET names the best that may be used: rounding, and with it a run, follows the instructions.
"""

from importlib.util import find_spec as _find_spec
from os import environ as _environ

_INSTRUCTION_SETS = ("baseline", "v3", "v4")

if _find_spec("gssbo._core._linalg") is None:
    raise ImportError(
        f"gssbo is imported from its source folder ({__path__[0]}), where nothing is compiled: install it "
        "(`pip install .`) and start Python in another folder"
    )
if _environ.get("GSSBO_INSTRUCTION_SET", "v4") not in _INSTRUCTION_SETS:
    raise ImportError(
        f"GSSBO_INSTRUCTION_SET must be one of {', '.join(map(repr, _INSTRUCTION_SETS))}, got "
        f"{_environ['GSSBO_INSTRUCTION_SET']!r}"
    )
