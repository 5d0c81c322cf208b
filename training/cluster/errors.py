"""Errors raised by clusters."""


class ClusterError(ValueError):
    """Raised when a cluster cannot be used. The message names the address or the node, and says what to do."""
