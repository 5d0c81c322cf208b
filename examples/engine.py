"""An external program of the engine protocol (docs/protocol.md): plays the first legal action."""

import sys

from stoneworks.envs.rules import load_game

for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "stoneworks":
        print("stoneworks 1 first legal action", flush=True)
    elif word == "game":
        game = load_game(rest)
    elif word == "ready":
        game.new_initial_state().legal_actions()  # loads the kernels before the clock starts
        print("ready", flush=True)
    elif word == "position":
        state = game.deserialize_state("\n".join(rest.split()))
    elif word == "go":
        print("action", state.action_to_string(state.legal_actions()[0]), flush=True)
    elif word == "quit":
        break
