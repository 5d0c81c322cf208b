"""PPO self-play, and a policy for sb3-contrib's MaskablePPO."""
