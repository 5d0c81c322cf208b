"""``stoneworks bench``: how fast the environments and the engine are, as ratios to others measured in the same run."""

from stoneworks.training.bench.report import Row, run_bench, save_rows, table_of

__all__ = ["Row", "run_bench", "save_rows", "table_of"]
