"""Web interface to play, watch and analyze games, and standalone HTML replays."""

from stoneworks.web.html_replay import Replay

__all__ = ["Replay"]
