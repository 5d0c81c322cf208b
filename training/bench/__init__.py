"""``stoneworks bench``: speed of environments, engines and training, as ratios to references measured in the same run."""

from stoneworks.training.bench.report import Report, Row, load_report, run_bench, save_report, table_of

__all__ = ["Report", "Row", "load_report", "run_bench", "save_report", "table_of"]
