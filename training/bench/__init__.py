"""``stoneworks bench``: how fast environments, engines and training are, as ratios to others measured in the same run."""

from stoneworks.training.bench.report import Report, Row, load_report, run_bench, save_report, table_of

__all__ = ["Report", "Row", "load_report", "run_bench", "save_report", "table_of"]
