"""The command line ``stoneworks``."""
