"""Validation of bot names from data files, such as ladders and configurations, which may be untrusted.

``load_bot`` starts programs (``exec:<command>``) and reads any path. Names passed by the caller may do that; names in a
file may not, unless the caller trusts the file.
"""

from __future__ import annotations

from pathlib import Path

from stoneworks.models import shipped
from stoneworks.models.bots.registry import BOTS
from stoneworks.models.errors import UntrustedNameError


def check_name_in_file(name: str, source: str, folder: Path | None) -> None:
    """Check that loading the bot ``name`` neither starts a program nor reads outside of a folder.

    Args:
        name: a name for ``load_bot``, or the path of a checkpoint.
        source: name of the file in error messages.
        folder: the folder that paths must lie in after resolving symbolic links; None if paths are not allowed.

    Raises:
        UntrustedNameError: the name starts a program or refers to a path outside the folder.
    """
    kind, _, argument = name.partition(":")
    if kind in BOTS:
        if BOTS[kind].starts_programs:
            raise UntrustedNameError(
                f"{source} has the player {name!r}, which starts a program; allow it only for files that you trust"
            )
        if not BOTS[kind].reads_file:
            return
        paths = [argument]
    elif shipped.find(name) is not None or shipped.find(name.rpartition("@")[0]) is not None:
        return
    else:
        paths = [name, name.rpartition("@")[0] or name]  # with the simulations of a search behind it, or not
    try:
        inside = folder is not None and all(Path(path).resolve().is_relative_to(folder.resolve()) for path in paths)
    except (OSError, ValueError, RuntimeError):  # a null character, a loop of links
        inside = False
    if not inside:
        allowed = "paths are not allowed there" if folder is None else f"paths must lead into {folder}"
        raise UntrustedNameError(f"{source} has the player {name!r}; {allowed}, unless you mark the file as trusted")
