"""Kernels are compiled ahead, in processes of their own, and are there afterwards."""

import pytest

from stoneworks.envs.rules import load_game
from stoneworks.models.compiling import PARTS, compile_games


@pytest.mark.slow
def test_kernels_are_compiled_once_and_then_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("STONEWORKS_CACHE_DIR", str(tmp_path))
    game = load_game("vadus(size=2)")
    seen = []
    results = compile_games([game], num_processes=2, progress=lambda *args: seen.append(args))
    assert {result.part for result in results} == set(PARTS)
    assert [(done, total) for _, done, total in seen] == [(n, len(PARTS)) for n in range(1, len(PARTS) + 1)]
    kernels = sorted(path.name for path in (tmp_path / "kernels").iterdir())
    for kernel in ("apply_action", "play_out", "search_turns", "evaluate_leaves", "search_proof", "run_network"):
        assert any(kernel in name for name in kernels), kernel
    compile_games([game], num_processes=1)
    assert sorted(path.name for path in (tmp_path / "kernels").iterdir()) == kernels
    with pytest.raises(ValueError, match="num_processes must be"):
        compile_games([game], num_processes=0)
