"""Hugging Face and Minari have the positions and actions of game records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from example_modules import example
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.evaluation.records import write_records
from stoneworks.models import load_bot

datasets, minari = pytest.importorskip("datasets"), pytest.importorskip("minari")


def test_records_become_a_dataset_of_positions_and_one_of_episodes(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    loaded = load_game(game)
    records = play_match(
        loaded, load_bot("random", game, seed=0), load_bot("random", game, seed=1), num_pairs=2, seed=2
    ).records
    write_records(tmp_path / "games.jsonl", records)
    unfinished = records[0].replace(actions=records[0].actions[:-1], winner=None, reason=None)
    write_records(tmp_path / "more.jsonl", [*records, unfinished])
    export = example("export_datasets")
    export.main([str(tmp_path / "more.jsonl"), "--output", str(tmp_path / "positions")])

    positions = export.dataset_of_records(records, game)
    stored = datasets.load_from_disk(tmp_path / "positions").with_format("numpy")
    for name, column in positions._asdict().items():
        np.testing.assert_array_equal(np.stack(stored[name]), column, err_msg=name)

    kept = minari.load_dataset("stoneworks/games-v0")
    env = kept.recover_environment()
    assert str(env.unwrapped.game) == game
    assert kept.total_steps == len(positions.planes)
    for record, played in zip([record for record in records for _ in range(2)], kept.iterate_episodes(), strict=True):
        player = played.id % 2
        state, actions = loaded.new_initial_state(), iter(played.actions)
        for text in record.actions:
            action = loaded.string_to_action(text)
            if state.current_player() == player:
                assert next(actions) == action
            state.apply_action(action)
        assert next(actions, None) is None
        assert (played.rewards[-1], played.rewards[:-1].any()) == (state.returns()[player], False)
        assert played.terminations[-1] != played.truncations[-1] == state.is_truncated()
        np.testing.assert_array_equal(played.observations["observation"][-1], state.observation_and_mask(player)[0])
        assert env.observation_space["observation"].contains(played.observations["observation"][0])
