"""One training trajectory of the diabetes task, held against PyTorch step by step in double precision."""

import numpy as np
import pytest

from gssbo.problems.diabetes import N_EPOCHS, diabetes_split
from gssbo.problems.mlp import draw_weights, predict_labels, train, unpack

torch = pytest.importorskip("torch")


def torch_model(theta, p):
    W1, b1, w2, b2 = (torch.from_numpy(part.copy()) for part in unpack(theta, p))
    h = b1.numel()
    model = torch.nn.Sequential(torch.nn.Linear(p, h), torch.nn.ReLU(), torch.nn.Linear(h, 1)).double()
    with torch.no_grad():
        model[0].weight.copy_(W1.T)
        model[0].bias.copy_(b1)
        model[2].weight.copy_(w2[None])
        model[2].bias.copy_(b2)
    return model


def flatten(model):
    parts = (model[0].weight.T, model[0].bias, model[2].weight, model[2].bias)
    return np.concatenate([part.detach().numpy().ravel() for part in parts])


@pytest.mark.parametrize(
    ("batch_size", "learning_rate", "weight_decay", "n_hidden"),
    [(32, 0.03, 1e-6, 6), (100, 0.01, 0.2, 8), (128, 0.5, 1.0, 1), (64, 1e-6, 1e-3, 3)],
)
def test_trajectory(batch_size, learning_rate, weight_decay, n_hidden):
    split = diabetes_split()
    n, p = split.X_train.shape
    rng = np.random.default_rng(11)
    theta = draw_weights(p, n_hidden, rng)
    order = rng.permuted(np.tile(np.arange(n), (N_EPOCHS, 1)), axis=1)
    options = {"batch_size": batch_size, "learning_rate": learning_rate, "weight_decay": weight_decay}
    path = train(theta, split.X_train, split.y_train, order, **options)

    model = torch_model(theta, p)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=learning_rate, weight_decay=weight_decay)
    criterion = torch.nn.BCEWithLogitsLoss()
    X, y = torch.tensor(split.X_train), torch.tensor(split.y_train)
    expected = [flatten(model)]
    for rows in order:
        for start in range(0, n, batch_size):
            batch = torch.from_numpy(rows[start : start + batch_size].copy())
            optimizer.zero_grad()
            criterion(model(X[batch])[:, 0], y[batch]).backward()
            optimizer.step()
            expected.append(flatten(model))

    np.testing.assert_allclose(path, np.array(expected), rtol=0.0, atol=1e-6)
    with torch.no_grad():
        logits = model(torch.tensor(split.X_valid))[:, 0].numpy()
    np.testing.assert_array_equal(predict_labels(path[-1], split.X_valid), logits > 0.0)


def test_initial_law_matches_the_default_of_linear():
    ours = np.array([draw_weights(8, 4, rng) for rng in np.random.default_rng(0).spawn(3_000)])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = [(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)) for _ in range(3_000)]
    theirs = np.array([flatten(model) for model in layers])
    for part in (slice(0, 36), slice(36, 41)):
        np.testing.assert_allclose(ours[:, part].std(), theirs[:, part].std(), rtol=0.03)
        np.testing.assert_allclose(np.abs(ours[:, part]).max(), np.abs(theirs[:, part]).max(), rtol=0.01)
