"""The ladders that come with stoneworks: one JSON file per game (see ``stoneworks.evaluation.ladder``)."""
