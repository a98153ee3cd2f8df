"""Methods to compare with, each a file of its own with a function `options`, the keyword arguments of its optimizer.

They are known by name in `gssbo.methods.METHODS`, which imports a file when its method is asked for.
"""
