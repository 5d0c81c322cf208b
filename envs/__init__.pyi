from . import (
    laido_v0 as laido_v0,
    taigo_v0 as taigo_v0,
    taugo_v0 as taugo_v0,
    trugo_v0 as trugo_v0,
    vadus_v0 as vadus_v0,
)
from .aec import BoardGameEnv as BoardGameEnv
from .drawing import Drawing as Drawing, draw as draw
from .observation_format import ObservationFormat as ObservationFormat
from .self_play import SelfPlayVectorEnv as SelfPlayVectorEnv
from .single_agent import SingleAgentEnv as SingleAgentEnv
from .vector import VectorEnv as VectorEnv
