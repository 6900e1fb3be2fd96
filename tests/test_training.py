"""The training code's own pieces, on a tiny synthetic corpus."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.card import card, mechanism_table
from training.case import (
    SAMPLERS,
    Text,
    as_json,
    findings,
    own_probability,
    read,
    table,
    write,
)
from training.data import (
    BUCKETS,
    EOS,
    IGNORE,
    BatchStream,
    encode,
    is_held_out,
    read_documents,
    split_documents,
    train_tokenizer,
)
from training.evaluate import Score, evaluate
from training.export import export_run, to_transformers
from training.measure import mechanism, ratio
from training.model import StoryLM
from training.optim import schedule
from training.prepare import MAIN, SIDE, Corpus, load_corpus
from training.recipe import Recipe
from training.train import Run, main, train
from xtc_viz.models.fake import FakeModel
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import RunSettings

pytestmark = pytest.mark.slow

WORDS = ["the", "a", "cat", "dog", "ran", "sat", "saw", "red", "ball", "hill", "sun", "and", "then"]
RECIPE = Recipe(
    vocab_size=300,
    width=32,
    layers=2,
    heads=2,
    inner=48,
    tokens=4000,
    batch_tokens=320,
    warmup=2,
    seed=3,
)


def story(number: int) -> str:
    rng = np.random.default_rng(number)
    return f"Story {number}: " + " ".join(rng.choice(WORDS, size=40)) + "."


STORIES = [story(number) for number in range(60)]


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for name, documents in ((MAIN, STORIES), (SIDE, [story(n) for n in range(100, 130)])):
        (folder / name).write_text("".join(f"{d}\n{EOS}\n" for d in documents))
    return folder


@pytest.fixture(scope="module")
def corpus(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(corpus_folder, tmp_path_factory.mktemp("work"), RECIPE.vocab_size, 0.2)


def stream_of(corpus: Corpus, seed: int = 3) -> BatchStream:
    return BatchStream(
        corpus.main, corpus.side, side_share=0.2, tokens_per_batch=320, eos=0, seed=seed
    )


def weights(run: Run) -> dict[str, torch.Tensor]:
    return {**run.model.state_dict(), **{f"average {k}": v for k, v in run.average.items()}}


def test_documents_end_at_their_marker(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text(f"One.\n\nTwo lines.\n{EOS}\n\n{EOS}\nThree.\n{EOS}\n")
    assert read_documents(path) == ["One.\n\nTwo lines.", "Three."]


def test_the_split_is_by_whole_documents_and_disjoint() -> None:
    kept, held_out = split_documents(STORIES, 0.2)
    assert sorted(kept + held_out) == sorted(STORIES)
    assert not set(kept) & set(held_out)
    assert 3 < len(held_out) < 25


def test_the_split_does_not_depend_on_the_order() -> None:
    assert set(split_documents(STORIES[::-1], 0.2)[1]) == set(split_documents(STORIES, 0.2)[1])
    assert not any(is_held_out(d, 0.0) for d in STORIES)
    assert all(is_held_out(d, 1.0) for d in STORIES)


def test_no_held_out_token_reaches_a_batch(corpus: Corpus) -> None:
    seen = {
        tuple(row) for epoch in range(3) for rows in stream_of(corpus).epoch(epoch) for row in rows
    }
    joined = {" ".join(map(str, row)) for row in seen}
    for document in corpus.held_out:
        text = " ".join(map(str, document[:20]))
        assert not any(text in row for row in joined)


def test_the_tokenizer_encodes_any_text() -> None:
    tokenizer = train_tokenizer(STORIES, 300)
    for text in ("the cat ran.", "Zoë has 3 🐈\n\n\tand “quotes”"):
        assert tokenizer.decode(encode(tokenizer, [text])[0].tolist()) == text
    assert tokenizer.token_to_id(EOS) == 0


def test_the_prepared_corpus_is_read_back_as_it_was(corpus_folder: Path, tmp_path: Path) -> None:
    made = load_corpus(corpus_folder, tmp_path, 300, 0.2)
    read = load_corpus(tmp_path / "gone", tmp_path, 300, 0.2)
    assert read.held_out_bytes == made.held_out_bytes
    for a, b in zip(
        made.main + made.side + made.held_out, read.main + read.side + read.held_out, strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_batches_are_a_function_of_seed_and_index(corpus: Corpus) -> None:
    whole = list(islice(stream_of(corpus)(), 40))
    for index in (1, 17, 39):
        later = next(stream_of(corpus)(index))
        assert torch.equal(later.inputs, whole[index].inputs)
        assert torch.equal(later.targets, whole[index].targets)
    other = next(stream_of(corpus, seed=4)())
    assert not torch.equal(other.inputs, whole[0].inputs)


def test_a_batch_predicts_the_next_token_and_never_its_padding(corpus: Corpus) -> None:
    for batch in islice(stream_of(corpus)(), 20):
        assert batch.inputs.shape[1] in BUCKETS
        kept = batch.targets != IGNORE
        assert int(kept.sum()) == batch.count
        after = kept[:, 1:]
        assert torch.equal(batch.inputs[:, 1:][after], batch.targets[:, :-1][after])


def test_a_corpus_without_a_full_batch_says_so() -> None:
    stream = BatchStream([], [], side_share=0.1, tokens_per_batch=320, eos=0, seed=0)
    with pytest.raises(ValueError, match="too few documents"):
        next(stream())


def test_bits_per_byte_by_hand() -> None:
    score = Score(nats=math.log(2) * 30, tokens=10, bytes=40)
    assert score.bits_per_byte == pytest.approx(0.75)
    assert score.perplexity == pytest.approx(8)
    assert str(score) == "2.0794 nats, ppl 8.000, 0.7500 bits/byte"


def test_a_uniform_model_scores_the_logarithm_of_its_vocabulary() -> None:
    model = StoryLM(RECIPE.config(), dtype=torch.float32)
    torch.nn.init.zeros_(model.model.embed_tokens.weight)
    documents = [np.arange(n, dtype=np.uint16) for n in (3, 50, 7)]
    score = evaluate(model, documents, [12, 200, 28])
    assert score.tokens == 63  # each document and its end
    assert score.nats == pytest.approx(63 * math.log(300), rel=1e-6)
    assert score.bits_per_byte == pytest.approx(63 * math.log2(300) / 240, rel=1e-6)


def test_the_model_is_transformers_llama() -> None:
    torch.manual_seed(0)
    model = StoryLM(RECIPE.config(), dtype=torch.float32)
    for parameter in model.parameters():  # weights of real size, norms away from 1
        torch.nn.init.normal_(parameter, std=0.3)
    twin = to_transformers(model, torch.float32)
    ids = torch.randint(0, 300, (2, 50))
    ours = model.hidden(ids) @ model.model.embed_tokens.weight.T
    torch.testing.assert_close(ours, twin(ids).logits, rtol=1e-4, atol=1e-4)


def test_loss_and_gradients_are_those_of_cross_entropy() -> None:
    torch.manual_seed(0)
    model = StoryLM(RECIPE.config(), dtype=torch.float32)
    ids, targets = torch.randint(0, 300, (2, 2, 50))
    targets[0, 30:] = IGNORE
    logits = model.hidden(ids) @ model.model.embed_tokens.weight.T
    expected = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), reduction="sum"
    )
    expected.backward()
    gradients = [p.grad for p in model.parameters()]
    model.zero_grad()
    loss = model.loss(ids, targets)
    loss.backward()
    torch.testing.assert_close(loss, expected)
    for ours, reference in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(ours.grad, reference, rtol=1e-4, atol=1e-5)


def test_the_schedule_rises_holds_and_falls_to_zero() -> None:
    assert schedule(0, 0.0, warmup=4, hold=0.5) == 0.25
    assert schedule(9, 0.3, warmup=4, hold=0.5) == 1
    assert schedule(99, 0.75, warmup=4, hold=0.5) == pytest.approx(0.5)
    assert schedule(200, 1.01, warmup=4, hold=0.5) == 0


def test_training_lowers_the_loss(corpus: Corpus) -> None:
    run = Run(RECIPE, stream_of(corpus))
    losses = [run.step() for _ in range(12)]
    assert losses[-1] < losses[0] - 0.5


def test_a_resumed_run_equals_an_uninterrupted_one(corpus: Corpus, tmp_path: Path) -> None:
    whole = Run(RECIPE, stream_of(corpus))
    for _ in range(6):
        whole.step()
    first = Run(RECIPE, stream_of(corpus))
    for _ in range(3):
        first.step()
    first.save(tmp_path / "checkpoint.pt")
    first.step()  # lost by the kill
    second = Run(RECIPE, stream_of(corpus))
    second.load(tmp_path / "checkpoint.pt")
    for _ in range(3):
        second.step()
    assert (second.step_number, second.tokens) == (whole.step_number, whole.tokens)
    for name, value in weights(whole).items():
        assert torch.equal(weights(second)[name], value), name


def test_a_kill_while_saving_leaves_the_old_checkpoint(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.pt"
    run = Run(RECIPE, stream_of(corpus))
    run.save(path)
    before = path.read_bytes()

    def killed(state: object, partial: Path) -> None:
        partial.write_bytes(b"half a checkpoint")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run.save(path)
    assert path.read_bytes() == before


def test_a_checkpoint_of_another_recipe_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    Run(RECIPE, stream_of(corpus)).save(tmp_path / "checkpoint.pt")
    other = Run(replace(RECIPE, seed=4), stream_of(corpus))
    with pytest.raises(ValueError, match="seed: the checkpoint was made with 3, not 4"):
        other.load(tmp_path / "checkpoint.pt")
    longer = Run(replace(RECIPE, tokens=9000), stream_of(corpus))
    longer.load(tmp_path / "checkpoint.pt")


def test_a_run_reports_and_leaves_a_checkpoint(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(RECIPE, stream_of(corpus))
    train(run, corpus, tmp_path, every=2, save_seconds=0)
    assert run.tokens >= RECIPE.tokens
    assert run.history[0]["step"] == 2
    assert (tmp_path / "checkpoint.pt").exists()
    printed = capsys.readouterr().out
    assert "bits/byte" in printed
    assert "min left" in printed


def test_one_command_makes_a_model_that_transformers_loads(
    corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, work = tmp_path / "out", tmp_path / "work"
    flags = {"corpus": corpus_folder, "out": out, "work": work, "held-out": 0.2, "seed": 3}
    sizes = {"vocab-size": 300, "width": 32, "layers": 2, "heads": 2, "inner": 48}
    budget = {"tokens": 1000, "batch-tokens": 320}
    words = [str(w) for k, v in (flags | sizes | budget).items() for w in (f"--{k}", v)]
    monkeypatch.setattr("sys.argv", ["train", "--eager", *words])
    main()
    model = AutoModelForCausalLM.from_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert model.dtype == torch.bfloat16
    assert model.config.eos_token_id == model.generation_config.eos_token_id == 0
    assert tokenizer.eos_token == EOS
    assert tokenizer.decode(tokenizer.encode("the cat ran.")) == "the cat ran."
    figures = json.loads((out / "training.json").read_text())
    assert figures["tokens"] >= 1000
    assert figures["held_out_bits_per_byte"] > 0


def test_minutes_may_end_a_run_before_its_tokens() -> None:
    run = Run(
        replace(RECIPE, minutes=2.0),
        BatchStream([], [], side_share=0.1, tokens_per_batch=320, eos=0, seed=0),
    )
    run.tokens, run.seconds = 1000, 60.0
    assert run.progress == 0.5
    run.tokens = 3000
    assert run.progress == 0.75


def test_a_ratio_and_its_interval_are_by_prompt() -> None:
    found = ratio([1, 3], [4, 4])
    assert found.value == 0.5
    assert (found.low, found.high) == (0.25, 0.75)  # both draws may be of the same prompt
    same = ratio([2, 2, 2], [4, 4, 4])
    assert (same.value, same.low, same.high) == (0.5, 0.5, 0.5)
    assert found.text("%") == "50.0 % (25.0 to 75.0)"
    assert found.text() == "0.50 (0.25 to 0.75)"


def test_the_mechanism_of_a_known_distribution() -> None:
    size = FakeModel().info.vocab_size
    p = np.full(size, 0.1 / (size - 3))
    p[0], p[10], p[20], p[30] = 1e-30, 0.5, 0.25, 0.15  # it never ends by itself
    model = FakeModel(logits=lambda _: np.log(p))
    found = mechanism(model, ["a", "b"], taus=(0.1, 0.2, 0.3), rho=0.5, seeds=(1,))
    assert [m.steps for m in found] == [128, 128, 128]
    assert [m.eligible.value for m in found] == [3, 2, 1]
    assert [m.ambiguous.value for m in found] == [1, 1, 0]
    assert [m.removed.value for m in found[:2]] == pytest.approx([0.75, 0.5], rel=1e-2)
    assert [m.expected.value for m in found] == pytest.approx([0.375, 0.25, 0], rel=1e-2)
    assert found[0].fired.value == pytest.approx(0.5, abs=0.15)
    assert 0 < found[0].changed.value < found[0].fired.value
    assert found[2].fired.value == found[2].changed.value == 0


def test_the_case_counts_texts_and_words_by_hand() -> None:
    texts = [
        Text(0, prompt=0, tokens=10, improbable=1, distinct2=0.5, repeated3=0.2),
        Text(0, prompt=0, tokens=30, improbable=3, distinct2=0.7, repeated3=0.0),
        Text(0, prompt=1, tokens=10, improbable=1, distinct2=0.9, repeated3=0.1),
    ]
    texts += [replace(text, sampler=n, improbable=0) for n in (1, 2, 3) for text in texts]
    plain, *others = findings(texts)
    assert (plain.name, plain.texts, plain.tokens) == ("Plain sampling", 3, 50)
    assert plain.distinct2.value == pytest.approx(0.7)
    assert plain.repeated3.value == pytest.approx(0.1)
    # Every prompt has one improbable word in ten.
    improbable = plain.improbable
    assert (improbable.value, improbable.low, improbable.high) == pytest.approx((0.1, 0.1, 0.1))
    assert [one.improbable.value for one in others] == [0.0, 0.0, 0.0]
    assert "| Plain sampling | 70.0 % (" in table([plain])
    data = as_json("m", 2, [plain])
    assert json.loads(json.dumps(data))["samplers"][0]["distinct2"]["value"] == 0.7


def test_the_texts_of_the_case_are_those_of_a_run_with_its_lanes() -> None:
    model, prompts = FakeModel(), ["Once", "The girl"]
    texts = sorted(write(model, prompts, (3,), 30), key=lambda t: (t.prompt, t.sampler))
    reference = []
    for number, prompt in enumerate(prompts):
        run = RunSettings(lanes=SAMPLERS, seed=3, max_new_tokens=30)
        lanes = record(model, Request(prompt, run)).lanes
        reference += [read(lane.steps, k, number) for k, lane in enumerate(lanes)]
    assert texts == reference
    assert any(text.improbable for text in texts)


def test_what_a_model_gave_a_word_is_known_behind_a_cutoff() -> None:
    size = FakeModel().info.vocab_size
    p = np.full(size, 0.1 / (size - 2))
    p[10], p[20] = 0.6, 0.3
    model = FakeModel(logits=lambda _: np.log(p))
    run = RunSettings(lanes=SAMPLERS, max_new_tokens=20)
    for lane in record(model, Request("Once", run)).lanes:
        for step in lane.steps:
            assert own_probability(step) == pytest.approx(p[step.token], rel=1e-4)


def test_the_card_is_filled_in(corpus: Corpus, tmp_path: Path) -> None:
    found = mechanism(FakeModel(), ["a"], taus=(0.1, 0.05), rho=0.5, seeds=(1,))
    work = tmp_path / "work"
    work.mkdir()
    Run(RECIPE, stream_of(corpus)).save(work / "checkpoint.pt")
    train_tokenizer(STORIES, RECIPE.vocab_size).save(str(work / "tokenizer.json"))
    export_run(work, corpus, tmp_path)
    record = json.loads((tmp_path / "training.json").read_text())
    record |= {"tokens": 2_000_000, "seconds": 1000, "held_out_bits_per_byte": 0.7}
    text = card(record, found, "a sample", 24)
    assert "2.0 million tokens" in text
    assert "2,000 tokens a second" in " ".join(text.split())
    assert "**0.700**" in text
    assert mechanism_table(found) in text
    assert "{" not in text
