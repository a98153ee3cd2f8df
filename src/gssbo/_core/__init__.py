"""Compiled numerical core: stateless functions on float64 arrays that fill outputs owned by the caller.

Private. The façades (`gssbo.gp`, `gssbo.precision`, `gssbo.selection`, `gssbo.acquisition`) validate, allocate
and name; nothing here checks shapes beyond what memory safety needs.
"""
