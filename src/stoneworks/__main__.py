"""Entry point of ``python -m stoneworks``, equivalent to the command ``stoneworks``."""

from stoneworks.cli.main import main

main()
