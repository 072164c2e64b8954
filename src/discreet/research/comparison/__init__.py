"""Models side by side on public data: the same folds for all models, one row per run, and the papers' statistics.

For public data only: scores are exact functions of the records, and the noise of the models is seeded.
"""

from discreet.research.comparison.engine import Failure, compare
from discreet.research.comparison.grid import Grid, Run, read_grid
from discreet.research.comparison.results import Measured, ResultsFile

__all__ = ["Failure", "Grid", "Measured", "ResultsFile", "Run", "compare", "read_grid"]
