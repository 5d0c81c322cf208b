"""The solved positions on which the accuracy of players is measured: one JSON file per game."""
