"""The games in the browser: modules, boards and weights, built for the documentation and for other programs."""
