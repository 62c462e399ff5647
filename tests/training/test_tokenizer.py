"""The tokenizer that we train: nothing is lost, nothing depends on the day."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_pairs import make_pairs

from training.models.protocols import Tokenizer
from training.models.template import SPECIAL_TOKENS
from training.models.tokenizer import texts_of, train_tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """As a reader gets it: saved, and loaded by plain transformers."""
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("tokenizer")
    train_tokenizer(texts_of(make_pairs(20)), vocab_size=320, context=64).save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


@given(st.text())
@settings(deadline=None)
def test_every_text_comes_back_as_it_was(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


def test_common_words_become_few_tokens(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.tokenize("comes on Friday.")) < 8


def test_special_tokens_are_single_ids_and_the_end_is_known(tokenizer: Tokenizer) -> None:
    assert [tokenizer.convert_tokens_to_ids(token) for token in SPECIAL_TOKENS] == [0, 1, 2, 3, 4]
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|end|>", "<|pad|>")


def test_the_template_marks_what_the_assistant_says(tokenizer: Tokenizer) -> None:
    turns = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Friday."},
        {"role": "tool", "content": "9"},
    ]
    made = tokenizer.apply_chat_template(turns, return_dict=True, return_assistant_tokens_mask=True)
    pairs = zip(made["input_ids"], made["assistant_masks"], strict=True)
    said = [token for token, mark in pairs if mark]
    assert tokenizer.decode(said) == "Friday.<|end|>"


def test_a_prompt_is_the_beginning_of_what_follows_it(tokenizer: Tokenizer) -> None:
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Friday."}]
    asked = tokenizer.apply_chat_template(turns[:1], tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template(turns, tokenize=False)
    assert whole == asked + "Friday.<|end|>"


def test_an_unknown_role_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(Exception, match="unknown role narrator"):
        tokenizer.apply_chat_template([{"role": "narrator", "content": "x"}], tokenize=False)


def test_two_processes_train_the_same_tokenizer(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from sample_pairs import make_pairs\n"
        "from training.models.tokenizer import texts_of, train_tokenizer\n"
        "made = train_tokenizer(texts_of(make_pairs(30)), vocab_size=400, context=64)\n"
        "made.save_pretrained(sys.argv[1])\n"
    )
    here = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", script, str(tmp_path / name), *here], check=True)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
