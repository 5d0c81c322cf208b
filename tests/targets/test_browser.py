"""The games in WebAssembly play as the kernels do here: records, searches, networks and pictures, compared in node."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from other_targets import can_compile
from stoneworks.envs.drawing import draw
from stoneworks.envs.drawing.picture import Drawing
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.compiler import browser, targets
from stoneworks.envs.rules.parts import heuristic_kernels
from stoneworks.models.search import alphabeta, turn_search, uct
from stoneworks.models.search.turn_search import leaf_kernels, rating_kernels

ROOT = Path(__file__).parents[2]
#: With 10, 10,000 games and 200 positions per game, which take half an hour of a core.
SCALE = int(os.environ.get("BROWSER_SCALE", "1"))
GAMES = ("vadus", "laido", "taugo", "taigo", "trugo")

pytestmark = [
    pytest.mark.slow,  # a module takes more than a minute to build
    pytest.mark.needs("torch"),
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("wasm-ld") is None, reason="wasm-ld is not installed (Debian: lld)"),
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed (Debian: nodejs)"),
    can_compile,
]

Ask = Callable[[list[dict[str, Any]]], list[Any]]


class Board:
    """A board in node, with games that were played at random here."""

    def __init__(self, folder: Path, file: str) -> None:
        self.folder, self.file = folder, file
        self.game: Game = load_game(json.loads((folder / file).read_text("utf-8"))["game"])
        self.random = np.random.default_rng(0)

    def ask(self, requests: list[dict[str, Any]]) -> list[Any]:
        """Return the answers of node to requests (see ``compare.mjs``)."""
        command = ["node", str(ROOT / "tests/targets/compare.mjs"), str(self.folder), self.file]
        done = subprocess.run(command, input=json.dumps(requests), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        answers: list[Any] = json.loads(done.stdout)
        return answers

    def random_game(self) -> tuple[list[int], str]:
        """Return the actions of a random game, and the hash of all its records and legal actions."""
        state = self.game.new_initial_state()
        digest = hashlib.sha256(state.record.tobytes())
        while not state.is_terminal():
            legal = state.legal_actions()
            digest.update(np.array(legal, np.uint32).tobytes())
            state.apply_action(legal[self.random.integers(len(legal))])
            digest.update(state.record.tobytes())
        return state.history(), digest.hexdigest()

    def ends(self, number: int) -> Iterator[State]:
        """Yield the last positions of random games."""
        for _ in range(number):
            yield self.game.deserialize_state("\n".join(map(self.game.action_to_string, self.random_game()[0])))

    def positions(self, number: int) -> Iterator[State]:
        """Yield positions of random games that are not over, from the beginning to the end of games."""
        for index in range(number):
            actions, _ = self.random_game()
            state = self.game.new_initial_state()
            for action in actions[: len(actions) * index // number]:
                state.apply_action(action)
            yield state


@pytest.fixture(scope="module", params=GAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each game."""
    return str(request.param)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A folder with the game."""
    from tools.browser.build import build, set_capacity

    folder = tmp_path_factory.mktemp("built")
    build(folder, (name,))
    content = json.loads((folder / f"{name}-standard.json").read_text("utf-8"))
    set_capacity(content["capacity"])  # so that records here have the layout of those in the browser
    yield folder
    set_capacity(384)


@pytest.fixture
def standard(built: Path, name: str) -> Board:
    """The standard board of each game."""
    return Board(built, f"{name}-standard.json")


@pytest.fixture
def boards(built: Path, name: str) -> list[Board]:
    """All boards of each game that are built."""
    about = json.loads((built / f"{name}.json").read_text("utf-8"))
    return [Board(built, board["file"]) for board in about["boards"]]


def compare_games(board: Board, number: int) -> None:
    """Compare whole random games, action by action."""
    games = [board.random_game() for _ in range(number)]
    answers = board.ask([{"kind": "replay", "actions": actions} for actions, _ in games])
    assert answers == [digest for _, digest in games], f"{board.game}: records or legal actions differ"


def test_records_and_legal_actions_are_equal_after_each_action(boards: list[Board]) -> None:
    for board in boards:
        compare_games(board, 100)


def test_many_games_are_equal(boards: list[Board]) -> None:
    for board in boards:
        for _ in range(SCALE):
            compare_games(board, 1000 // len(boards))


def test_illegal_actions_are_refused(standard: Board) -> None:
    for state in standard.positions(3):
        mask = state.legal_actions_mask()
        illegal = np.flatnonzero(mask == 0)[:50].tolist()
        requests = [{"kind": "illegal", "actions": state.history(), "action": action} for action in illegal]
        beyond = [{"kind": "illegal", "actions": state.history(), "action": at} for at in (-1, len(mask), 2**31 - 1)]
        legal = [{"kind": "illegal", "actions": state.history(), "action": state.legal_actions()[0]}]
        assert standard.ask(requests + beyond + legal) == [True] * (len(illegal) + 3) + [False]


def test_trees_of_uct_are_equal(standard: Board) -> None:
    game, simulations = standard.game, 2000
    search = game.compiled(uct.search_tree, {**leaf_kernels(game, False), **rating_kernels(game, False)})
    requests, expected = [], []
    for seed, state in enumerate(standard.positions(6)):
        nodes = np.zeros(2 * simulations + 1024, uct.NODE)
        edges = np.zeros(min(len(nodes) * game.num_actions, 1 << 22), uct.EDGE)
        trees, seeds = np.zeros(1, uct.GAME), np.array([seed], np.uint64)
        parameters = uct.Search(1.4, 0.0, math.inf, False)
        done = search(game.board, state.record.reshape(1), nodes, edges, trees, seeds, simulations, parameters)
        used = nodes[: trees[0]["num_nodes"]].tobytes() + edges[: trees[0]["num_edges"]].tobytes()
        expected.append((done, hashlib.sha256(used).hexdigest()))
        requests.append({"kind": "uct", "actions": state.history(), "simulations": simulations, "seed": seed})
    assert [(answer["done"], answer["hash"]) for answer in standard.ask(requests)] == expected


def test_uct_keeps_the_subtree_of_an_action(standard: Board) -> None:
    state = standard.game.new_initial_state()
    ask = {"kind": "kept", "actions": [], "played": state.legal_actions()[:1], "simulations": 20_000, "seed": 1}
    assert standard.ask([ask])[0] > 2, "visits of the tree before count"


def test_greedy_and_alpha_beta_choose_the_same_actions(standard: Board) -> None:
    game = standard.game
    greedy = game.compiled(turn_search.search_turns, heuristic_kernels(game))
    deep = game.compiled(alphabeta.search_depths, heuristic_kernels(game))
    work = alphabeta.work_buffers(2, game.num_actions)
    requests, expected = [], []
    for seed, state in enumerate(standard.positions(12)):
        records, values = state.record.reshape(1), np.empty((1, game.num_actions), np.float32)
        actions, visited = np.empty(1, np.int64), np.empty(1, np.int64)
        greedy(game.board, records, 12, 4, np.array([seed], np.uint64), values, actions)
        requests.append({"kind": "greedy", "actions": state.history(), "seed": seed})
        expected.append(int(actions[0]))
        limits = alphabeta.Limits(1, 2, 12, 2**31 - 1)
        deep(game.board, records, limits, work, np.array([seed], np.uint64), values, actions, visited)
        requests.append({"kind": "alphabeta", "actions": state.history(), "depth": 2, "seed": seed})
        expected.append(int(actions[0]))
    assert standard.ask(requests) == expected


def test_the_network_and_the_agent_are_equal(standard: Board) -> None:
    compare_agents(standard, 12)


def test_the_agent_chooses_the_same_actions_in_many_positions(standard: Board) -> None:
    compare_agents(standard, 20 * SCALE)


def agent_of_browsers(board: Board) -> Any:
    """Return the agent with 64 simulations and with the weights that browsers have."""
    from stoneworks import load_bot
    from stoneworks.models.checkpoint import load_checkpoint
    from stoneworks.models.inference.winograd import WinogradInference
    from stoneworks.models.shipped import find
    from tools.browser.build import downloaded_weights

    bot: Any = load_bot(f"{board.game.name}@64", board.game, seed=0)
    shipped = find(board.game.name)
    assert shipped is not None
    network = load_checkpoint(shipped, board.game).network
    weights = {name: np.asarray(of) for name, of in network.playing_state_dict().items()}
    bot.evaluate = WinogradInference(network.architecture, downloaded_weights(weights))
    return bot


def compare_agents(board: Board, number: int) -> None:
    """Compare the outputs of the network, and the actions of the agent with 64 simulations."""
    bot = agent_of_browsers(board)
    requests, expected = [], []
    for seed, state in enumerate(board.positions(number)):
        of_playouts = np.random.default_rng(seed).integers(0, 2**64, 1, np.uint64)[0]
        bot._generator = np.random.default_rng(seed)
        found, outputs = bot.search(state), bot.policy_and_value([state])
        requests.append({"kind": "agent", "actions": state.history(), "seed": str(of_playouts)})
        requests.append({"kind": "evaluate", "actions": state.history()})
        expected.append((int(found.actions[0]), float(found.values[0]), outputs))
    answers = board.ask(requests)
    for (action, value, outputs), agent, network in zip(expected, answers[::2], answers[1::2], strict=True):
        np.testing.assert_allclose(network["logits"], outputs.logits[0], rtol=0, atol=1e-4)
        assert network["value"] == pytest.approx(outputs.value[0], abs=1e-4)
        assert (agent["action"], agent["value"]) == (action, pytest.approx(value, abs=1e-3))


def test_an_analysis_goes_on_as_the_network_search(standard: Board) -> None:
    """After the agent's 64 simulations, a round of sequential halving in the same tree, with the lines of the local page."""
    from stoneworks.models.search.network_search import _NO_SCHEDULE, NetworkSearch
    from stoneworks.web.bot_processes import _describe

    bot = agent_of_browsers(standard)
    requests, expected = [], []
    for seed, state in enumerate(standard.positions(4)):
        search = bot._last = NetworkSearch(standard.game, bot.evaluate, bot.settings, max_games=1, max_simulations=200)
        search.run(state.record.reshape(1), 64, np.random.default_rng(seed))
        num_phases = int(np.ceil(np.log2(max(2, min(search.rule.round_size, search.trees.nodes[0, 0]["num_edges"])))))
        for phase in range(num_phases):
            search._halve_all(search.trees, search.rule.parameters, phase == 0)
            search._simulate(64 + -(-64 * (phase + 1) // num_phases), _NO_SCHEDULE, lambda: False)
        expected.append(_describe(bot._analysis(state, search.result()), state, 0.0))
        of_playouts = np.random.default_rng(seed).integers(0, 2**64, 1, np.uint64)[0]
        requests.append({"kind": "analysis", "actions": state.history(), "simulations": 128, "seed": str(of_playouts)})
    for found, known in zip(standard.ask(requests), expected, strict=True):
        for key in ("player", "proven", "simulations", "line", "line_ends_game", "columns"):
            assert found[key] == known[key], key
        assert found["lines"][: len(known["lines"])] == known["lines"]
        assert found["value"] == pytest.approx(known["value"], abs=1e-3)
        keys = {"action", *(column["name"] for column in known["columns"])}
        assert set(found["actions"][0]) == keys
        here, there = ({row["action"]: row for row in one["actions"]} for one in (found, known))
        for action, row in there.items():
            del row["action"]
            assert {key: here[action][key] for key in row} == pytest.approx(row, abs=1e-3)


def test_pictures_of_rulings_can_be_played_on_from(built: Path, name: str) -> None:
    from docs.ruling_pictures import RULING_PICTURES
    from tools.browser.build import address_of

    pictures = [picture for picture in RULING_PICTURES if picture.path.startswith(f"images/rulings/{name}-")]
    assert pictures
    for picture in pictures:
        state = picture.state()
        board = Board(built, f"{address_of(state.get_game())}.json")
        (answer,) = board.ask([{"kind": "describe", "actions": state.history()}])
        assert answer["player"] == (None if state.is_terminal() else state.current_player()), picture.path
        legal = {item["action"] for item in answer["legal"] if "then" not in item} | {
            item["action"] for item in answer["buttons"]
        }
        assert legal == set(map(state.get_game().action_to_string, state.legal_actions())), picture.path


def test_lessons_are_played_on_boards_that_are_built(name: str) -> None:
    from tools.browser.build import boards_of

    built = set(map(str, boards_of(name).values()))
    assert {lesson.game for lesson in load_game(name).guide.lessons} <= built


def test_playouts_end_in_the_same_position(standard: Board) -> None:
    from stoneworks.envs.rules import templates

    game, requests, expected = standard.game, [], []
    for seed, state in enumerate(standard.positions(5)):
        records = state.record.reshape(1)
        outputs = np.empty((1, 2), np.float32), np.empty(1, np.int32)
        game.compiled(templates.play_out)(game.board, records, np.array([seed], np.uint64), *outputs)
        requests.append({"kind": "finish", "actions": state.history(), "seed": seed})
        expected.append(list(records.tobytes()))
    assert standard.ask(requests) == expected


def test_pictures_are_those_of_the_drawing(standard: Board) -> None:
    states = [*standard.positions(4), *standard.ends(4)]
    answers = standard.ask([{"kind": "svg", "actions": state.history()} for state in states])
    for state, svg in zip(states, answers, strict=True):
        # Destinations of a picked piece are marked by the page, not in the picture.
        if "picked" in (state.record.dtype.names or ()) and state.record["picked"] >= 0:
            continue
        here, there = (drawing.rgb_array().astype(int) for drawing in (draw(state, last_actions=()), Drawing(svg)))
        assert here.shape == there.shape
        different = (np.abs(here - there).max(axis=2) > 48).mean()
        assert different < 0.002, f"{standard.game}: {100 * different:.2f} % of the pixels differ"


def test_texts_are_those_of_the_game(standard: Board) -> None:
    """The turn, supplies, the reasons why actions are illegal, and the results with what decided."""
    game, requests, expected = standard.game, [], []
    for state in itertools.chain(standard.positions(20), standard.ends(10)):
        actions = standard.random.integers(game.num_actions, size=100).tolist()
        said = [("explain_illegal", action, game.explain_illegal(state, action), []) for action in actions]
        if (result := state.explain_result()) is None:
            said += [(name, 0, getattr(game, name)(state), []) for name in ("describe_turn", "describe_supplies")]
        else:
            said.append(("explain_result", 0, result.text, list(result.deciding)))
        requests.append({"kind": "words", "actions": state.history(), "asked": [one[:2] for one in said]})
        expected.append([{"text": text, "marked": marked} for *_, text, marked in said])
    answers = standard.ask(requests)
    assert answers == expected
    assert len({text["text"].partition(":")[0] for each in expected for text in each[:100]}) >= 3


def test_reasons_of_clicks_are_those_of_the_server(standard: Board) -> None:
    from stoneworks.web.board import reasons_at

    requests, expected = [], []
    for state in standard.positions(4):
        extent = standard.game.grid.positions * 40 * (1, -1)
        corners = extent.min(axis=0), extent.max(axis=0)
        clicks = [
            {"x": x, "y": y, "chosen": []} for x, y in standard.random.uniform(*corners, (40, 2)).round(2).tolist()
        ]
        requests.append({"kind": "reasons", "actions": state.history(), "clicks": clicks})
        expected.append([reasons_at(state, **click) for click in clicks])
    assert standard.ask(requests) == expected
    assert any(itertools.chain.from_iterable(expected))


def test_a_position_is_described_as_the_server_does(standard: Board) -> None:
    from stoneworks.web.board import Positions, describe

    lines = [standard.game.deserialize_state("c3\ng7\nc4")] if standard.game.has_lines else []
    for state in [*standard.positions(3), *standard.ends(1), *lines]:
        actions = [standard.game.action_to_string(action) for action in state.history()]
        expected = json.loads(json.dumps(describe(Positions().line(standard.game, actions))))
        (answer,) = standard.ask([{"kind": "describe", "actions": state.history()}])
        for key in (
            "game",
            "name",
            "actions",
            "movers",
            "player",
            "colors",
            "turn_start",
            "sides",
            "outcome",
            "buttons",
            "turn",
            "supplies",
            "why",
        ):
            assert answer[key] == expected[key], key
        assert answer["places"] == expected["places"]
        keys = ("action", "then", "path", "label")
        assert [[item.get(key) for key in keys] for item in answer["legal"]] == [
            [item.get(key) for key in keys] for item in expected["legal"]
        ]
        assert {icon: str(svg) for icon, svg in answer["icons"].items()} == expected["icons"]


def test_the_package_for_npm_plays_its_examples(tmp_path: Path) -> None:
    from tools.browser.build import build

    package, installed = tmp_path / "package", tmp_path / "project/node_modules/@stoneworks/games"
    shutil.copytree(ROOT / "web/engine", package, ignore=shutil.ignore_patterns("games"))
    build(package / "games", ("vadus", "trugo"))
    installed.mkdir(parents=True)
    if shutil.which("npm"):
        options = ["--offline", "--update-notifier=false", f"--cache={tmp_path / 'cache'}"]
        subprocess.run(["npm", "pack", *options], cwd=package, check=True, capture_output=True)
        (packed,) = package.glob("*.tgz")
        subprocess.run(["tar", "-xzf", packed, "-C", installed, "--strip-components=1"], check=True)
    else:
        for name in ["package.json", "README.md", *json.loads((package / "package.json").read_text("utf-8"))["files"]]:
            (shutil.copytree if (package / name).is_dir() else shutil.copy)(package / name, installed / name)
    (example,) = re.findall(r"```js\n(.*?)```", (ROOT / "web/engine/README.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "project/own.mjs").write_text(example, encoding="utf-8")
    run = functools.partial(subprocess.run, cwd=tmp_path / "project", capture_output=True, text=True, check=True)
    assert re.match(r"\[ '\S+' \] \{ action: \d+ \} \d{4,}\n", run(["node", "own.mjs"]).stdout)
    *_, result = run(["node", str(installed / "example.mjs")]).stdout.splitlines()
    assert re.fullmatch(r"(the agent|UCT) wins by \w+|a draw", result)


def test_without_the_linker_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(targets.TargetError, match="apt-get install --yes lld"):
        browser.find_linker()
