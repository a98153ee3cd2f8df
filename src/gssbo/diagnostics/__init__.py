"""The paper's analysis as a tool: what a retained subset loses against all the data, exactly and in bounds.

=========================================  ============================================================================
question                                   answer
=========================================  ============================================================================
Can the subset be trusted?                 `trust`: a line, a verdict, and the size that would halve the gap
How far off is it, and where?              `PosteriorGap.at`: both posteriors and their gaps, at any points
What do the bounds of the paper say?       `PosteriorGap.bounds`, `PosteriorGap.uniform_bounds`
What are they made of?                     `PosteriorGap`: A, B, C, S, residual, scores, rho and the norms
What would a larger subset bring?          `growth_order`, then `PosteriorGap.growth`: every size at once
Which rule leaves the smallest residuals?  `residual_table`: the paper's table, a row a rule
Which observation does the model not fit?  `leave_one_out`
How diverse is the subset?                 `directional_dispersion`
How good are the predictions?              `posterior_rmse`, `PosteriorGap.rmse`
=========================================  ============================================================================

Nothing here changes a model, and nothing is refitted: the analysis compares posteriors under shared hyperparameters.
`Optimizer.diagnostics` asks `trust` about a running optimizer.

Accuracy
--------
The condition number of K_y, at most n (variance + noise) / noise, decides. The largest errors relative to the largest
value, against arithmetic with 60 digits, on 50 points in two dimensions under the RBF kernel, M = 20, noise 1e-2 to
1e-12 times the variance:

==============================  =====  =====  =====  =====  =====  =====
condition number                3e3    3e5    3e7    3e9    3e11   3e13
==============================  =====  =====  =====  =====  =====  =====
means, full-data and subset     3e-15  4e-14  8e-13  4e-12  9e-11  1e-9
mean gap                        7e-14  1e-12  6e-11  9e-10  8e-9   9e-8
variance gap                    2e-14  3e-13  9e-12  1e-10  2e-10  2e-9
standard deviations             5e-14  9e-13  5e-11  1e-9   4e-8   5e-6
r_U, c_U(x)                     3e-14  8e-13  4e-11  5e-10  6e-10  2e-9
leave-one-out mean              5e-15  5e-14  5e-13  5e-11  1e-9   3e-8
leave-one-out std               7e-15  6e-13  2e-11  6e-10  1e-7   2e-5
dispersion                      2e-16  6e-15  5e-12  8e-10  5e-8   1e-6
scores, norm of S^-1            3e-14  4e-12  4e-10  3e-8   2e-6   9e-5
==============================  =====  =====  =====  =====  =====  =====

So the scores and what is made of them lose as many digits as the condition number has; the means hardly suffer.
Three cases deserve their names. *Near-duplicates*, one of each pair retained: the gap itself goes down with the noise,
and keeps 9 to 10 digits at noise 1e-6, 5 to 6 at 1e-10. *Small standard deviations*: below about 1e-8 of the prior's,
as at observations without noise, they are rounding. *A small spread on a large offset*: of responses around 1e9 that
differ by 1e-3, doubles hold four digits, and no more can come out. The size of y alone does not matter: 1e150 times y
gives 1e150 times the gap. A pool that is not positive definite in doubles takes jitter, which `PosteriorGap.jitter`
reports.

Examples
--------
Two hundred noisy observations, and a Gaussian process whose hyperparameters are known:

>>> import numpy as np
>>> from gssbo import GaussianProcess, select_subset
>>> rng = np.random.default_rng(0)
>>> X = rng.random((200, 2))
>>> y = np.sin(6.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(200)
>>> gp = GaussianProcess(lengthscale=[0.3, 0.6], variance=2.0, noise=0.05, fit_hyperparameters=False).fit(X, y)

Retain 40 of them. The subset says of itself that it knows less, and it is right; 128 would halve the gap:

>>> kept = select_subset(gp, X, 40, rule="maxmin")
>>> found = trust(gp, X, y, kept, rule="maxmin")
>>> found.verdict, found.size_to_halve
('covered', 128)

The gap somewhere, and what the analysis bounds it by. The bounds hold, and they are far from tight:

>>> gap = found.gap
>>> at, bounds = gap.at([[0.5, 0.5]]), gap.bounds([[0.5, 0.5]])
>>> print(f"{at.mean_gap[0]:.3f} {bounds.mean_by_scores[0]:.2f} {bounds.mean[0]:.1f} {bounds.mean_coarse[0]:.1f}")
0.045 1.14 1.6 1.6

How the largest gap shrinks as the rule goes on adding:

>>> grown = gap.growth()
>>> print([f"{grown.sizes[i]}: {grown.mean_gap[i]:.2f}" for i in (0, 40, 80, 120, 160)])
['40: 0.17', '80: 0.11', '120: 0.09', '160: 0.07', '200: 0.00']

The rules side by side, as in the paper's table, and the observation that fits the model worst:

>>> for row in residual_table(gp, X, y, 40, rules=["vector", "random", "maxmin"], rng=0):
...     print(f"{row.rule:7} |r_U| {row.residual_norm:.2f}  rho_U {row.rho:.2f}  sup gap {row.mean_gap:.2f}")
vector  |r_U| 11.18  rho_U 10.01  sup gap 2.52
random  |r_U| 3.78  rho_U 0.92  sup gap 0.64
maxmin  |r_U| 3.51  rho_U 0.24  sup gap 0.42
>>> errors = leave_one_out(gp, X, y).errors
>>> print(int(abs(errors).argmax()), errors[abs(errors).argmax()].round(1))
86 -3.9
"""

from __future__ import annotations

from gssbo.diagnostics.accuracy import posterior_rmse
from gssbo.diagnostics.bounds import Bounds
from gssbo.diagnostics.comparison import Comparison
from gssbo.diagnostics.dispersion import directional_dispersion
from gssbo.diagnostics.gap import PosteriorGap
from gssbo.diagnostics.growth import Growth, growth_order
from gssbo.diagnostics.leave_one_out import LeaveOneOut, leave_one_out
from gssbo.diagnostics.residual_table import ResidualRow, residual_table
from gssbo.diagnostics.trust import Trust, trust

__all__ = [
    "Bounds",
    "Comparison",
    "Growth",
    "LeaveOneOut",
    "PosteriorGap",
    "ResidualRow",
    "Trust",
    "directional_dispersion",
    "growth_order",
    "leave_one_out",
    "posterior_rmse",
    "residual_table",
    "trust",
]
