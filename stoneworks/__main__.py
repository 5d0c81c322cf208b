"""``python -m stoneworks`` is the command ``stoneworks``."""

from stoneworks.training.cli.main import main

main()
