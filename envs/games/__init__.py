"""The games of the package: one folder each, with the same names of modules (see :mod:`stoneworks.envs.rules.contract`).

``hexhex`` is what Vadus and Laido share.
"""

from stoneworks.envs.rules.game_registry import GameEntry


def _entry(name: str, *samples: str) -> GameEntry:
    return GameEntry(name, f"{__name__}.{name}", samples=samples)


BUILT_IN = (
    _entry("vadus", "vadus(size=3)", "vadus(size=2)", "vadus(size=5)"),
    _entry(
        "laido",
        "laido(size=3)",
        "laido(size=2)",
        "laido(pie_rule=False,size=2)",
        "laido(pie_rule=False,size=4)",
        "laido(size=3,tie_break='first_pass')",
    ),
    _entry("taugo", "taugo(size=4)", "taugo(size=3)", "taugo(cut_point='run',size=5)"),
    _entry(
        "taigo",
        "taigo(cones=2,radius=3,tiles=12)",
        "taigo(cones=1,radius=2)",
        "taigo(cones=1,radius=3)",
        "taigo(cones=0,handicap=(1,0),radius=4,tiles=12)",
    ),
    _entry(
        "trugo",
        "trugo(max_turns=12,pieces=3,radius=2,tiles=6)",
        "trugo(radius=1,tiles=6)",
        "trugo(max_turns=40,pieces=4,radius=3,stacking=False,tiles=9)",
        "trugo(radius=3,tiles=12)",
    ),
)
