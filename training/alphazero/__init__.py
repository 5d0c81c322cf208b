"""AlphaZero: self-play with tree search, and a learner that trains the network on the search policies and game results."""
