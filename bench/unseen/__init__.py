"""Kinds of problems that nothing was tuned on; the default beside other optimizers."""
