from .runs.algorithms import (
    Algorithm as Algorithm,
    AlgorithmEntry as AlgorithmEntry,
    RunConfig as RunConfig,
    algorithm_names as algorithm_names,
    register_algorithm as register_algorithm,
)
from .runs.config_files import config_names as config_names, load_config as load_config
from .runs.display import train as train
from .runs.run import TrainingResult as TrainingResult, TrainingStatus as TrainingStatus
