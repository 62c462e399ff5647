"""Whole: a policy that knew nothing plays after imitation, and better after games of its own."""

from job_box import Box
from sample_games import NUMBERS, games_file, make_games, playing_recipe

from training.environments.guess_number import chance


def test_imitation_makes_a_player_and_ppo_a_better_one(box: Box) -> None:
    box.pipeline = playing_recipe(
        model={
            **{"source": "tiny", "vocab_size": 300, "hidden_size": 32, "layers": 2, "heads": 2},
            "context": 32,
        },
        environment={"settings": {"numbers": NUMBERS, "turns": 2}, "max_turns": 2},
        evaluation={"episodes": 256},
        rounds=[
            {
                "optimize": [
                    {
                        **{"algorithm": "sft", "steps": 60, "batch_size": 16, "top_share": 0.5},
                        "learning_rate": 0.005,
                    },
                    {
                        **{"algorithm": "ppo", "iterations": 20, "episodes": 128},
                        **{"learning_rate": 0.004, "stop_at_success": 0.95},
                    },
                ]
            }
        ],
    )
    box.drop("games.jsonl", games_file(make_games(120)))
    box.plan()
    collected = box.finished("collect").artifacts
    inputs = {name: collected[name] for name in ("episodes", "start")}
    metrics = box.finished("optimize", inputs).metrics
    assert metrics["sft_success_before"] < 0.1
    assert metrics["sft_success_after"] > 0.8 * chance(NUMBERS, 2)
    assert metrics["success_after"] > metrics["sft_success_after"] + 0.15
    assert metrics["reward_after"] > metrics["sft_reward_after"]
    assert metrics["sampler_gap"] <= 1e-4
