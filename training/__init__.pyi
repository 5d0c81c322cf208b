from .runs.algorithms import (
    AlgorithmEntry as AlgorithmEntry,
    algorithm_names as algorithm_names,
    register_algorithm as register_algorithm,
)
from .runs.config_files import config_names as config_names, load_config as load_config
from .runs.display import train_with_display as train_with_display
from .runs.status import TrainingResult as TrainingResult, TrainingStatus as TrainingStatus
