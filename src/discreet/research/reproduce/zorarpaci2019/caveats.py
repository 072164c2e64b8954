"""Caveats that both halves of the study of Zorarpacı 2019 state beside their numbers."""

AFTER_A_LOOK = "set after a first look at partial results"
"""Said of the limits below which two accuracies are said to agree."""

NOT_EQUAL_PRIVACY = (
    "Equal ε is not equal privacy: ε under local privacy is for one record that is replaced by another, the number of "
    'records being public; ε of rows "private" is for one record more or less, so that they lose at most 2 ε for one '
    "that is replaced."
)
