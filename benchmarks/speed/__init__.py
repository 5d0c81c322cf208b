"""Speed of environments, engines and training, as ratios to references measured in the same run (``make bench``)."""
