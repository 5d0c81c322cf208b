"""Training and measuring: self-play, evaluation, benchmarks, and the command line."""
