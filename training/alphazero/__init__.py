"""AlphaZero: self-play with search, and a learner that makes a network agree with what the search found."""
