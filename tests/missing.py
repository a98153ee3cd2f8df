"""What pandas has for a missing value and for an array that may hold some, as far as it matters."""

import numpy as np


class NAType:
    """Neither a float, nor equal to anything, nor true or false."""

    def __eq__(self, other):
        return self

    __hash__ = object.__hash__

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


NA = NAType()


class Nullable:
    """An array with a mask of its own, as Float64 and Int64 have; Polars' Series has a shape, too, and `__array__`."""

    def __init__(self, values):
        self._values = list(values)
        self._mask = np.array([value is NA for value in values])
        self.shape = self._mask.shape

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values)

    def __getitem__(self, index):
        return self._values[index]

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype=object if self._mask.any() else dtype)
