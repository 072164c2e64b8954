"""What is asked for: names, numbers, files; each mistake says what is known."""

import pytest

from discreet.errors import FileError, ParameterError
from discreet.research.comparison import Grid, Run, read_grid


def grid(**changes):
    return Grid(**{"data": ["iris"], "models": ["a", "b"], "epsilons": [0.5, 1], "folds": 2, "repeats": 2, **changes})


def test_every_combination_once_with_its_reference():
    runs = grid().runs()
    assert len(runs) == len(set(runs)) == 2 * 2 * (1 + 2 * 3)
    assert {(run.model, run.epsilon) for run in runs} == {
        ("majority", "inf"),
        *((model, epsilon) for model in "ab" for epsilon in ("inf", "1/2", "1")),
    }
    assert [run.data for run in grid(data=["x", "y"]).runs()] == ["x"] * 28 + ["y"] * 28


def test_no_reference_is_run_twice():
    assert grid(epsilons=[1, "inf"]).runs() == grid(epsilons=[1]).runs()


def test_noise_has_a_seed_of_its_own():
    runs = grid(data=["iris", "wine"]).runs()
    assert len({run.noise_seed() for run in runs}) == len(runs)
    first = Run("iris", "a", "1", "add-remove", 2, 0, 0, 0)
    assert first.noise_seed() == first._replace().noise_seed() != first._replace(seed=1).noise_seed()


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"data": []}, "data"),
        ({"data": "iris"}, "data"),
        ({"models": ["a", "a"]}, "twice"),
        ({"epsilons": [1, "1.0"]}, "twice"),
        ({"epsilons": [0]}, "epsilon"),
        ({"epsilons": ["much"]}, "epsilon"),
        ({"epsilons": 1}, "epsilons"),
        ({"folds": 1}, "folds"),
        ({"folds": 2.5}, "folds"),
        ({"repeats": 0}, "repeats"),
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"adjacency": "both"}, "adjacency"),
    ],
)
def test_wrong_parameters(wrong, word):
    with pytest.raises(ParameterError, match=word):
        grid(**wrong)


def test_an_unknown_model_is_an_error_that_lists_the_known():
    grid().check(["b", "a"])
    with pytest.raises(ParameterError, match="'b' is not known; need some of: a, c"):
        grid().check(["c", "a"])


def test_a_grid_from_a_file(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('data = ["iris"]\nmodels = ["a", "b"]\nepsilons = ["1/2", 1.0]\nfolds = 2\nrepeats = 2\n')
    assert read_grid(path).runs() == grid().runs()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('data = ["iris"]\nmodels = ["a"]\n', "'epsilons' is missing"),
        (
            'data = ["iris"]\nmodels = ["a"]\nepsilons = [1]\nfold = 3\n',
            "'fold' is not known; it may hold: data, models",
        ),
        ("data = [", "not a valid TOML"),
        ('data = ["iris"]\nmodels = ["a"]\nepsilons = [-1]\n', "epsilon"),
        ('data = ["iris"]\nmodels = ["a"]\nepsilons = [1]\nfolds = "3"\n', "folds"),
    ],
)
def test_wrong_files(tmp_path, text, word):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises((FileError, ParameterError), match=word):
        read_grid(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"none\.toml"):
        read_grid(tmp_path / "none.toml")


def test_a_file_from_windows(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('data = ["iris"]\r\nmodels = ["a"]\r\nepsilons = [1]\r\n', encoding="utf-8-sig")
    assert read_grid(path).data == ("iris",)


def test_a_number_that_is_too_large_is_told_the_bound():
    with pytest.raises(ParameterError, match="need an integer from 2 to 2147483647"):
        grid(folds=99999999999999999999)
