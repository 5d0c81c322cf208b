"""Entry point of ``python -m stoneworks``, equivalent to the command ``stoneworks``."""

from stoneworks.training.cli.main import main

main()
