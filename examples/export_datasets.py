"""Turn the game records of a file into a Hugging Face dataset of positions and a Minari dataset of episodes.

``python export_datasets.py games.jsonl --output positions --minari stoneworks/games-v0``
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import datasets
import gymnasium
import minari
from minari.data_collector import EpisodeBuffer

import stoneworks
from stoneworks.evaluation.records import GameRecord, read_records
from stoneworks.training.dataset import Dataset, dataset_of_records


def huggingface_dataset(positions: Dataset) -> datasets.Dataset:
    """Return the positions of ``dataset_of_run`` or ``dataset_of_records``, one row each."""
    return datasets.Dataset.from_dict(positions._asdict()).with_format("numpy")


def minari_dataset(name: str, records: Sequence[GameRecord]) -> minari.MinariDataset:
    """Store finished games of one game under ``name``, each as two episodes, one by either player's observations."""
    game = stoneworks.load_game(records[0].game)
    gymnasium.register_envs(stoneworks)
    env_id = f"stoneworks/{game.name.capitalize()}-v{game.version}"
    env = gymnasium.make(env_id, observation={"with_mask": True}, **game.options)
    episodes = [episode for record in records for player in (0, 1) for episode in episode_of(record, player, game)]
    return minari.create_dataset_from_buffers(name, episodes, env=env)


def episode_of(record: GameRecord, player: int, game: stoneworks.Game) -> Iterator[EpisodeBuffer]:
    """Yield the actions of a player, who is rewarded in the end, if the game is finished and the player has acted in it."""
    states = [game.new_initial_state()]
    for text in record.actions:
        states.append(states[-1].clone())
        states[-1].apply_action(game.string_to_action(text))
    turns = [number for number, state in enumerate(states[:-1]) if state.current_player() == player]
    if not states[-1].is_terminal() or not turns:
        return
    seen = [states[number].observation_and_mask(player) for number in (*turns, -1)]
    is_last = [number == turns[-1] for number in turns]
    yield EpisodeBuffer(
        observations={"observation": [planes for planes, _ in seen], "action_mask": [mask for _, mask in seen]},
        actions=[game.string_to_action(record.actions[number]) for number in turns],
        rewards=[states[-1].returns()[player] if last else 0.0 for last in is_last],
        terminations=[last and not states[-1].is_truncated() for last in is_last],
        truncations=[last and states[-1].is_truncated() for last in is_last],
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the records and store both datasets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records")
    parser.add_argument("--output", default="positions")
    parser.add_argument("--minari", default="stoneworks/games-v0")
    options = parser.parse_args(arguments)
    records = read_records(options.records)
    huggingface_dataset(dataset_of_records(records, records[0].game)).save_to_disk(options.output)
    minari_dataset(options.minari, records)


if __name__ == "__main__":
    main()
