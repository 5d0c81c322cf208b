"""The page to play, watch and analyze games in a browser, and replays that need no server."""

from stoneworks.web.replay import Replay

__all__ = ["Replay"]
