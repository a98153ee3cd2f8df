"""Compiled numerical core: stateless functions on float64 arrays that fill outputs owned by the caller.

Private. The façades (`gssbo.gp`, `gssbo.precision`, `gssbo.selection`, `gssbo.acquisition`) validate, allocate
and name; nothing here checks shapes beyond what memory safety needs.
"""

from importlib.util import find_spec as _find_spec

if _find_spec("gssbo._core._linalg") is None:
    raise ImportError(
        f"gssbo is imported from its source folder ({__path__[0]}), where nothing is compiled: install it "
        "(`pip install .`) and start Python in another folder"
    )
