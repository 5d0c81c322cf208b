"""Training: runs of AlphaZero, PPO and registered algorithms. Names are imported on first use."""

from typing import TYPE_CHECKING

from stoneworks.lazy_names import lazy_names

if TYPE_CHECKING:
    from stoneworks.training.runs.algorithms import AlgorithmEntry, algorithm_names, register_algorithm
    from stoneworks.training.runs.config import config_names, load_config
    from stoneworks.training.runs.display import train_with_display
    from stoneworks.training.runs.status import TrainingResult, TrainingStatus

__all__ = [
    "AlgorithmEntry",
    "TrainingResult",
    "TrainingStatus",
    "algorithm_names",
    "config_names",
    "load_config",
    "register_algorithm",
    "train_with_display",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AlgorithmEntry": "runs.algorithms",
        "TrainingResult": "runs.status",
        "TrainingStatus": "runs.status",
        "algorithm_names": "runs.algorithms",
        "config_names": "runs.config",
        "load_config": "runs.config",
        "register_algorithm": "runs.algorithms",
        "train_with_display": "runs.display",
    },
)


def __dir__() -> list[str]:
    return __all__
