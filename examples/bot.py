"""A bot that plays near the center, registered by the name ``center``."""

from stoneworks import Bot, load_bot, load_game, register_bot


class CenterBot(Bot):
    """Plays the legal action nearest to the center of the board."""

    def __init__(self, game, seed):
        self._distance = game.grid.distance_from_center

    def step_with_policy(self, state):
        """Return the policy, actions with their probabilities, and the action."""
        num_cells = len(self._distance)
        action = min(state.legal_actions(), key=lambda a: self._distance[a] if a < num_cells else num_cells)
        return [(action, 1.0)], action


register_bot("center", CenterBot)
state = load_game("vadus(size=5)").new_initial_state()
bot = load_bot("center", state.get_game())
print(state.action_to_string(bot.step(state)))
