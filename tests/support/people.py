"""Two small tables whose best columns are known."""

from discreet import Categorical, Numeric, Schema

ILLNESS = Schema(
    [Categorical("smoker", ["no", "yes"], unlisted=False), Numeric("age", 0, 80), Categorical("town", ["A", "B", "C"])],
    "ill",
    ["yes", "no"],
    records=1200,
)


def patients(copies=100):
    """Old smokers and young non-smokers are ill: neither attribute alone tells much."""
    records = [
        {"smoker": smoker, "age": age, "town": town}
        for smoker in ("no", "yes")
        for age in (20, 60)
        for town in ("A", "B", "C")
    ] * copies
    return records, ["yes" if (record["smoker"] == "yes") == (record["age"] > 40) else "no" for record in records]


PEOPLE = Schema(
    [
        Categorical("hat", ["no", "yes"], unlisted=False),
        Numeric("dose", 0, 10),
        Categorical("smoker", ["no", "yes"]),
        Categorical("day", ["mon", "tue", "wed"]),
    ],
    "ill",
    ["no", "yes"],
    records=400,
)


ILL = ["yes"] * 200 + ["no"] * 200


HABITS = [{"hat": "no", "dose": 9.0 if i % 4 else 1.0, "smoker": "yes", "day": "mon"} for i in range(200)] + [
    {"hat": "no", "dose": 1.0 if i % 4 else 9.0, "smoker": "no", "day": "mon"} for i in range(200)
]
"""Smokers are ill, dose tells three in four, hat and day tell nothing."""
