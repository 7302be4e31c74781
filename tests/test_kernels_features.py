"""Features that are mostly zero: the sparse product gives what the dense one gives."""

import warnings

import pytest
import torch
from torch.autograd import forward_ad
from torch.nn.functional import linear
from torch.nn.utils import spectral_norm, weight_norm
from torch.nn.utils.prune import l1_unstructured
from torch_geometric.nn import Linear

from graphcon import kernels
from graphcon.models import InputEncoder

ROWS, WORDS, CHANNELS = 300, 400, 8


@pytest.fixture
def words() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(ROWS, WORDS, generator=generator)
    return torch.where(torch.rand(ROWS, WORDS, generator=generator) < 0.02, x, 0.0)


@pytest.fixture
def weights() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(CHANNELS, WORDS, generator=generator).requires_grad_()
    return weight, torch.randn(CHANNELS, generator=generator).requires_grad_()


def product(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, dropout: float) -> torch.Tensor:
    out = kernels.sparse_linear(x, weight, bias, dropout)
    assert out is not None
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_sparse_product_and_its_gradients_are_those_of_the_dense_one(words, weights, dtype):
    x = words.to(dtype)
    weight, bias = (w.detach().to(dtype).requires_grad_() for w in weights)
    ours, theirs = product(x, weight, bias, 0.0), linear(x, weight, bias)
    torch.testing.assert_close(ours, theirs)
    seed = torch.randn(ROWS, CHANNELS, dtype=dtype)
    for one, other in zip(
        torch.autograd.grad(ours, (weight, bias), seed), torch.autograd.grad(theirs, (weight, bias), seed), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_gradients_of_gradients_are_right(words):
    x = words.double()
    weight = torch.randn(2, WORDS, dtype=torch.float64, requires_grad=True)

    def squared(weight: torch.Tensor) -> torch.Tensor:
        return product(x, weight, None, 0.0)[:5].square().sum()

    v = torch.randn_like(weight)
    gradient = torch.autograd.grad(squared(weight), weight, create_graph=True)[0]
    ours = torch.autograd.grad((gradient * v).sum(), weight)[0]
    torch.testing.assert_close(ours, 2 * (v @ x[:5].t()) @ x[:5])


def test_dropout_drops_entries_and_makes_the_others_larger(words, weights):
    one = torch.eye(WORDS)  # the weights give the dropped matrix itself back
    torch.manual_seed(0)
    dropped = product(words, one, None, 0.25)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], words[kept] / 0.75)
    share = kept.sum() / (words != 0).sum()
    assert 0.7 < share < 0.8
    torch.manual_seed(0)
    assert torch.equal(dropped, product(words, one, None, 0.25))


def test_the_gradient_sees_the_entries_that_were_dropped(words, weights):
    weight, _ = weights
    torch.manual_seed(0)
    out = product(words, weight, None, 0.5)
    torch.manual_seed(0)
    dropped = product(words, torch.eye(WORDS), None, 0.5)
    (gradient,) = torch.autograd.grad(out.sum(), weight)
    torch.testing.assert_close(gradient, torch.ones(CHANNELS, ROWS) @ dropped)


def test_a_change_of_the_features_is_noticed_even_through_numpy(words, weights):
    weight, bias = weights
    kernels.sparse_linear(words, weight, bias, 0.0)
    words.numpy()[3, 7] = 5.0
    torch.testing.assert_close(kernels.sparse_linear(words, weight, bias, 0.0), linear(words, weight, bias))


def test_dense_small_or_differentiated_features_are_left_to_the_dense_product(words, weights):
    weight, bias = weights
    assert kernels.sparse_linear(words.abs() + 1, weight, bias, 0.0) is None
    assert kernels.sparse_linear(words[:9], weight, bias, 0.0) is None
    assert kernels.sparse_linear(words.clone().requires_grad_(), weight, bias, 0.0) is None
    with kernels.disabled():
        assert kernels.sparse_linear(words, weight, bias, 0.0) is None


def test_the_encoder_answers_alike_with_and_without_kernels(words):
    encoder = InputEncoder(WORDS, CHANNELS, dropout=0.5).eval()
    with kernels.disabled():
        dense = encoder(words)
    torch.testing.assert_close(encoder(words), dense)


def test_a_program_of_the_encoder_is_dense_and_agrees(words):
    encoder = InputEncoder(WORDS, CHANNELS).eval()
    program = torch.export.export(encoder, (words,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    torch.testing.assert_close(program.module()(words), encoder(words))
    torch.testing.assert_close(program.module()(words[:9]), encoder(words[:9]))


def test_an_encoder_that_was_touched_is_called_as_it_is(words):
    encoder = InputEncoder(WORDS, CHANNELS)
    calls = []
    handle = encoder.lin.register_forward_hook(lambda *_: calls.append(1))
    encoder(words)
    handle.remove()
    encoder.dropout.register_forward_hook(lambda *_: calls.append(1))
    encoder(words)
    assert len(calls) == 2


def test_weights_that_are_no_numbers_are_seen(words):
    encoder = InputEncoder(WORDS, CHANNELS)
    with torch.no_grad():
        encoder.lin.weight[3, 7] = float("inf")
    torch.testing.assert_close(encoder(words), encoder.lin(words), equal_nan=True)


def _forward_mode(encoder: InputEncoder, words: torch.Tensor) -> torch.Tensor:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(encoder(forward_ad.make_dual(words, words))).tangent


@pytest.mark.parametrize(
    "use",
    [
        lambda encoder, words: torch.func.grad(lambda x: encoder(x).square().sum())(words),
        lambda encoder, words: torch.func.jvp(encoder, (words,), (words,)),
        lambda encoder, words: torch.func.vmap(encoder)(torch.stack([words, 2 * words])),
        _forward_mode,
    ],
    ids=["grad", "jvp", "vmap", "forward mode"],
)
def test_the_transforms_of_torch_take_the_dense_product(words, use):
    encoder = InputEncoder(WORDS, CHANNELS)
    found = use(encoder, words)
    with kernels.disabled():
        torch.testing.assert_close(found, use(encoder, words))


class Doubled(Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(x)


class Nothing(torch.nn.Dropout):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(input)


@pytest.mark.parametrize(
    ("name", "part"),
    [("lin", Doubled(WORDS, CHANNELS)), ("dropout", Nothing(0.0)), ("dropout", torch.nn.Identity())],
    ids=["linear", "dropout", "identity"],
)
def test_another_module_in_the_encoder_is_called(words, name, part):
    encoder = InputEncoder(WORDS, CHANNELS)
    setattr(encoder, name, part)
    torch.testing.assert_close(encoder(words), encoder.lin(encoder.dropout(words)))


@pytest.mark.parametrize(
    "reparametrised", [spectral_norm, weight_norm, lambda layer: l1_unstructured(layer, "weight", 0.5)]
)
def test_weights_that_are_made_of_others_train_those(words, reparametrised):
    encoder = InputEncoder(WORDS, CHANNELS)
    reparametrised(encoder.lin)
    for _ in range(2):
        encoder(words).square().sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())


def test_a_pass_leaves_alone_which_warnings_were_shown(words, weights):
    product(words, *weights, 0.5)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")  # every warning once per place
        for _ in range(3):
            warnings.warn("the user's own", stacklevel=1)
            product(words, *weights, 0.5)
    assert [str(warning.message) for warning in shown] == ["the user's own"]


def test_a_default_device_is_not_that_of_the_features(words, weights):
    weight, bias = weights
    with torch.device("meta"):
        out = product(words, weight, bias, 0.5)
    assert out.device.type == "cpu"
    assert not product(words, weight, bias, 0.0).isnan().any()
