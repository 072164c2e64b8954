"""Advice in words: figures for each epsilon, a warning where it is due, and no more certainty than there is."""

import math
from dataclasses import replace

import pytest

from discreet import Categorical, Numeric, Schema
from discreet.advice import advise
from discreet.advice.cases import committed
from discreet.advice.record import track_record
from discreet.advice.wording import amount, command, options, rounded, sentence, sentences

SCHEMA = Schema(
    [Numeric("age", 0, 99), *(Categorical(f"c{i}", list("abcd")) for i in range(7))], "ill", ["no", "yes"], records=5000
)


def made(*accuracies, low=0.1, high=0.2, halfwidth=0.1, **changes):
    """Advice with a decision tree as the first choice at epsilons 0.1, 1, 10, ..., useful from `low` or `high` on."""
    plain = advise(SCHEMA, [10.0 ** (place - 1) for place in range(len(accuracies))], simulated=False)
    choices = []
    for choice, middle in zip(plain.choices, accuracies, strict=True):
        tree = next(each for each in choice.expectations if each.model == "decision-tree")
        tree = replace(tree, accuracy=middle, low=middle - halfwidth, high=middle + halfwidth)
        choices.append(replace(choice, expectations=(tree,), **changes))
    useful = tuple(replace(each, low=low, high=high, epsilon=(low + high) / 2) for each in plain.useful)
    return replace(plain, choices=tuple(choices), useful=useful)


def test_a_range_for_each_epsilon_of_one_model():
    text, *more = sentences(made(0.6, 0.7, 0.8))
    assert text.startswith("At epsilon 0.1, 1 and 10 with about 5,000 records, train a decision tree: expect ")
    assert "expect 50 % to 70 % of records right at epsilon 0.1, 60 % to 80 % at 1, 70 % to 90 % at 10; in " in text
    assert more == []


def test_one_epsilon():
    advice = advise(SCHEMA, [1], records=12_000, simulated=False)
    text, first = sentence(advice, advice.choices), advice.choices[0].first
    assert text.startswith("At epsilon 1 with about 12,000 records, train ")
    assert f"expect {first.low:.0%} to {first.high:.0%} of records right; ".replace("%", " %") in text
    assert f"in {first.close_in} of the 10 most comparable cases it was the best or within one percentage point" in text
    assert f"in about {10 * track_record(committed()).fraction:.0f} of 10 trials" in text
    assert "guess" not in text


def test_each_model_has_one_paragraph():
    advice = made(0.6, 0.7, 0.8)
    one, two, three = advice.choices
    other = replace(two, expectations=(replace(two.first, model="svm"),))
    texts = sentences(replace(advice, choices=(one, other, three)))
    assert len(texts) == 2
    assert texts[0].startswith("At epsilon 0.1 and 10 ")
    assert texts[1].startswith("At epsilon 1 with about 5,000 records, train a linear SVM")


def test_noise_is_said_to_leave_little_only_where_it_does():
    text = sentences(made(0.6, 0.7, 0.8, low=0.5, high=5))[0]
    assert text.startswith(
        "Do not train at epsilon 0.1: always predicting the largest class is expected to do as well. "
        "At epsilon 1 and 10 with about 5,000 records, train a decision tree"
    )
    assert "50 % to 70 % of records right at epsilon 0.1," in text
    assert (
        "Noise may leave little at epsilon 1: the model is clearly better than the largest class from an epsilon"
        in text
    )
    assert "of about 2.8 on (0.5 to 5 in four of five cases)." in text
    assert "leave little at epsilon 1 and 10: " in sentences(made(0.6, 0.7, 0.8, low=0.5, high=25))[0]
    assert "leave little at epsilon 1: " in sentences(made(0.6, 0.7, 0.8, low=0.5, high=15))[0]
    clear = sentences(made(0.6, 0.7, 0.8, low=0.01, high=0.1))[0]
    assert "little" not in clear
    assert "Do not train" not in clear


def test_where_nothing_should_be_trained_nothing_is_said_to_be():
    advice = made(0.6, 0.7, low=5, high=math.inf)
    text = sentences(advice)[0]
    assert text.startswith("Do not train at epsilon 0.1 and 1: ")
    assert "the least bad is a decision tree" in text
    assert ", train " not in text
    assert command(advice, "decision-tree", "s.json") == ""


@pytest.mark.parametrize(
    ("strange", "words"),
    [
        ("few records", "fewer records than in any known case, so accuracies may well be lower than this"),
        ("many classes", "more classes than in any known case"),
        ("far", "unlike all known cases"),
    ],
)
def test_a_guess_is_said_to_be_one_and_why(strange, words):
    text = sentences(made(0.6, 0.7, strange=(strange,)))[0]
    assert words in text
    assert "this is a guess" in text
    assert "most comparable" not in text
    assert "How sure" not in text
    assert words not in sentences(made(0.6, 0.7, strange=()))[0]


def test_wide_ranges_say_little():
    assert "Little can be said at epsilon 0.1 and 1: " in sentences(made(0.6, 0.7, halfwidth=0.21))[0]
    assert "Little can be said" not in sentences(made(0.6, 0.7, halfwidth=0.19))[0]


def test_a_smaller_epsilon_that_does_as_well_is_named():
    assert sentences(made(0.6, 0.797, 0.799, 0.8))[-1] == "A smaller epsilon, 1, is expected to do as well."
    assert not any("smaller" in text for text in sentences(made(0.8, 0.7, 0.79, 0.8)))  # between them it is worse
    assert sentences(made(0.8, 0.8, low=0.05))[-1] == "A smaller epsilon, 0.1, is expected to do as well."
    assert not any("smaller" in text for text in sentences(made(0.8, 0.8, low=0.5)))  # it is not worth training at 0.1


def test_no_noise_is_not_private():
    advice = advise(SCHEMA, [1, "inf"], simulated=False)
    assert sentence(advice, advice.choices[1:]).endswith("At epsilon inf there is no noise: the model is not private.")
    assert "not private" not in sentence(advice, advice.choices[:1])
    assert not any("not private" in text for text in sentences(advise(SCHEMA, [1], simulated=False)))


def test_a_command_can_be_pasted():
    advice = made(0.6, 0.7, 0.8, low=0.5)
    found = command(advice, "decision-tree", "my schemas.json#a", "replace-one")
    assert found == (
        "discreet train DATA --schema 'my schemas.json#a' --epsilon 1 --out M --model decision-tree "
        "--adjacency replace-one"
    )
    assert "--adjacency" not in command(advice, "decision-tree", "s.json")


def test_options_for_training():
    assert options("svm") == "--model svm"
    assert options("naive-bayes(select=auto)") == "--model naive-bayes --with select=auto"
    assert rounded(math.inf) == "∞"


def test_one_record_is_one():
    assert amount(1) == "1 record"
    assert amount(2) == "about 2 records"
    assert "with 1 record" in sentence(*_one()).lower()


def _one():
    advice = advise(SCHEMA, [1], records=1, simulated=False)
    return advice, advice.choices
