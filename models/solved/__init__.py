"""The solved games that come with stoneworks: one JSON file per game."""
