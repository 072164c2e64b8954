"""Advice in words: figures for each epsilon, a warning where it is due, and no more certainty than there is."""

import math
from dataclasses import replace

import pytest

from discreet import Categorical, Numeric, Schema
from discreet.advice import advise
from discreet.advice.wording import amount, command, from_where, rounded, sentence, sentences
from discreet.models.auto.pick import Pick

SCHEMA = Schema(
    [Numeric("age", 0, 99), *(Categorical(f"c{i}", list("abcd")) for i in range(7))], "ill", ["no", "yes"], records=5000
)
TREE = Pick("decision-tree", "noise leaves room for few questions", {"depth": 3})
BAYES = Pick("naive-bayes", "there are enough records for all columns")


def made(*accuracies, low=0.01, high=0.1, halfwidth=0.1, picked=TREE, **changes):
    """Advice at epsilons 0.1, 1, 10, ..., with auto useful from `low` to `high` on."""
    plain = advise(SCHEMA, [10.0 ** (place - 1) for place in range(len(accuracies))])
    choices = []
    for choice, middle in zip(plain.choices, accuracies, strict=True):
        auto = replace(choice.first, accuracy=middle, low=middle - halfwidth, high=middle + halfwidth)
        choices.append(replace(choice, picked=picked, expectations=(auto, *choice.expectations[1:]), **changes))
    useful = tuple(replace(each, low=low, high=high, epsilon=min((low + high) / 2, 20)) for each in plain.useful)
    return replace(plain, choices=tuple(choices), useful=useful)


def test_a_range_for_each_epsilon():
    assert sentences(made(0.6, 0.7, 0.8)) == [
        "At epsilon 0.1, 1 and 10 with about 5,000 records, auto picks a decision tree (depth=3): noise leaves room "
        "for few questions. Expect 60 % of records right at epsilon 0.1 (50 % to 70 %), "
        "70 % at 1 (60 % to 80 %) and 80 % at 10 (70 % to 90 %); such ranges hold in four of five tables."
    ]


def test_one_epsilon():
    advice = advise(SCHEMA, [1], records=12_000)
    text, first = sentence(advice, advice.choices), advice.choices[0].first
    assert text.startswith("At epsilon 1 with about 12,000 records, auto picks ")
    expected = f"Expect {first.accuracy:.0%} of records right at epsilon 1 ({first.low:.0%} to {first.high:.0%}); such"
    assert expected.replace("%", " %") in text
    assert "guess" not in " ".join(sentences(advice))


def test_each_pick_has_one_paragraph():
    advice = made(0.6, 0.7, 0.8)
    one, two, three = advice.choices
    texts = sentences(replace(advice, choices=(one, replace(two, picked=BAYES), three)))
    assert len(texts) == 2
    assert texts[0].startswith("At epsilon 0.1 and 10 with about 5,000 records, auto picks a decision tree ")
    assert texts[1].startswith("At epsilon 1 with about 5,000 records, auto picks naive Bayes: there are enough")


def test_noise_is_said_to_leave_little_only_where_it_does():
    never, text = sentences(made(0.6, 0.7, 0.8, low=0.5, high=5))
    assert never == (
        "Do not train at epsilon 0.1: in nine of ten comparable cases nothing was clearly better than always "
        "predicting the largest class."
    )
    assert text.startswith("At epsilon 1 and 10 with ")
    assert text.endswith(
        "Noise may leave little at epsilon 1: in most comparable cases auto was not clearly better than always "
        "predicting the largest class; it was from an epsilon of about 2.8 on."
    )
    assert "leave little at epsilon 1 and 10: " in sentences(made(0.6, 0.7, 0.8, low=0.5, high=25))[1]
    clear = " ".join(sentences(made(0.6, 0.7, 0.8, low=0.01, high=0.1)))
    assert "little" not in clear
    assert "Do not train" not in clear


def test_where_nothing_should_be_trained_nothing_is_said_to_be():
    advice = made(0.6, 0.7, low=5, high=math.inf)
    texts = sentences(advice)
    assert len(texts) == 1
    assert texts[0].startswith("Do not train at epsilon 0.1 and 1: ")
    assert sentence(advice, advice.choices) == texts[0]
    assert command(advice, "s.json") == ""


def test_tiny_signals_are_not_worth_training():
    """By the committed cases: with a signal below one, nothing beats the largest class; with 5,000 much does."""
    assert sentences(advise(SCHEMA, [0.0001]))[0].startswith("Do not train at epsilon 0.0001: ")
    assert not any("Do not" in text for text in sentences(advise(SCHEMA, [1])))


@pytest.mark.parametrize(
    ("strange", "words"),
    [
        ("few records", "fewer records than in any known case, so accuracies may well be lower than that"),
        ("many classes", "more classes than in any known case"),
        ("far", "a shape unlike all known cases"),
    ],
)
def test_a_guess_is_said_to_be_one_and_why(strange, words):
    expected, text = sentences(made(0.6, 0.7, strange=(strange,)))
    assert "four of five" not in expected  # that holds for tables like the cases
    assert words in text
    assert text.endswith(": this is a guess.")
    assert words not in " ".join(sentences(made(0.6, 0.7, strange=())))


def test_a_smaller_epsilon_that_does_as_well_is_named():
    assert sentences(made(0.6, 0.797, 0.799, 0.8))[-1] == "A smaller epsilon, 1, is expected to do as well."
    assert not any("smaller" in text for text in sentences(made(0.8, 0.7, 0.79, 0.8)))  # between them it is worse
    assert sentences(made(0.8, 0.8, low=0.05))[-1] == "A smaller epsilon, 0.1, is expected to do as well."
    assert not any("smaller" in text for text in sentences(made(0.8, 0.8, low=0.5)))  # it is not worth training at 0.1


def test_no_noise_is_not_private():
    advice = advise(SCHEMA, [1, "inf"])
    assert sentence(advice, advice.choices[1:]).endswith("At epsilon inf there is no noise: the model is not private.")
    assert "not private" not in sentence(advice, advice.choices[:1])
    assert not any("not private" in text for text in sentences(advise(SCHEMA, [1])))


def test_a_command_can_be_pasted():
    advice = made(0.6, 0.7, 0.8, low=0.5, high=0.9)
    found = command(advice, "my schemas.json#a", "replace-one")
    assert found == "discreet train DATA --schema 'my schemas.json#a' --epsilon 1 --out M --adjacency replace-one"
    assert "--adjacency" not in command(advice, "s.json")


def test_the_command_takes_an_epsilon_that_leaves_enough():
    assert "--epsilon 10 " in command(made(0.6, 0.7, 0.8, low=0.05, high=5), "s.json")  # useful in most from 2.5 on
    assert "--epsilon 10 " in command(made(0.6, 0.7, 0.8, low=0.5, high=math.inf), "s.json")
    assert "--epsilon inf " in command(advise(SCHEMA, ["inf"]), "s.json")
    assert "--epsilon 1 " in command(advise(SCHEMA, [1, "inf"]), "s.json")


def test_from_where_a_model_is_useful():
    each = made(0.6).useful[0]
    assert from_where(replace(each, epsilon=0.25, low=0.1, high=1234)) == "0.25 (0.1 to 1200)"
    assert from_where(replace(each, epsilon=0.25, low=0.1, high=math.inf)) == "0.25 (0.1 to never)"
    assert from_where(replace(each, epsilon=math.inf)) == "not expected"
    assert rounded(math.inf) == "∞"


def test_one_record_is_one():
    assert amount(1) == "1 record"
    assert amount(2) == "about 2 records"
