"""The arena: optimizers against each other on equal budgets.

`rows` lists the problems (`problems` finds these and others), `plan` the runs, `objective` counts and records what a
method evaluates, `methods` are the methods (`rivals` those of other packages), `results` the files, `standing` medians,
ties and ranks, `table` and `figure` what is shown.
Commands: ``python -m bench.arena --help``; how to rerun a row: bench/README.md.
"""
