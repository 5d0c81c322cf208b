import typing

from .aec import BoardGameEnv as BoardGameEnv
from .drawing import Drawing as Drawing, draw as draw
from .observation_format import ObservationFormat as ObservationFormat
from .self_play import SelfPlayVectorEnv as SelfPlayVectorEnv
from .single_agent import SingleAgentEnv as SingleAgentEnv
from .vector import VectorEnv as VectorEnv

def __getattr__(name: str) -> typing.Any: ...  # vadus_v0 and the like
