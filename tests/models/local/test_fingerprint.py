"""Fingerprints of weights: the same for the same weights, others for others."""

from __future__ import annotations

import torch

from xtc_viz.models.local.fingerprint import weights_fingerprint


def model() -> torch.nn.Module:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(50, 70), torch.nn.LayerNorm(70))


def test_the_same_weights_have_the_same() -> None:
    print_ = weights_fingerprint(model())
    assert print_ == weights_fingerprint(model())
    assert len(print_) == 16


def test_a_training_step_changes_it() -> None:
    changed = model()
    changed(torch.randn(2, 50)).square().sum().backward()
    torch.optim.SGD(changed.parameters(), 1e-3).step()
    assert weights_fingerprint(changed) != weights_fingerprint(model())


def test_a_type_or_a_shape_changes_it() -> None:
    prints = {
        weights_fingerprint(own)
        for own in (model(), model().to(torch.bfloat16), model()[:1], torch.nn.Linear(70, 50))  # type: ignore[index]
    }
    assert len(prints) == 4


def test_what_is_not_in_memory_counts_by_its_shape() -> None:
    assert weights_fingerprint(model().to("meta")) == weights_fingerprint(model().to("meta"))
    empty = torch.nn.ParameterList([torch.nn.Parameter(torch.empty(0, 4))])
    assert len(weights_fingerprint(empty)) == 16
