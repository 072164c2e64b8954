"""Why the numbers of the first half of Zorarpacı 2019 agree or do not: texts without measured numbers."""

from discreet.research.reproduce.zorarpaci2019.caveats import NOT_EQUAL_PRIVACY

SETTING = (
    "Three learners find IF-THEN rules with an artificial bee colony: one rule a class (1-rule ABC), a set number "
    "of rules a class (wLapMS ABC), and sequential covering (Seq. cov. wLap ABC). Numbers of rules, weights α and β "
    "= 1 - α (Table 5.9 and the text before it) and the colony (Table 5.10) are those of the thesis. Only training "
    "records are perturbed, as its Algorithm 4.1 has it; test records are clear. All data are public: no accuracy "
    "here is private."
)

SILENT = (
    "The thesis does not say how a record is classified that several rules match, or none. In rows named as in the "
    "thesis we take the plainest way: the most precise matching rule, else the largest class, and rules as the bees "
    "left them. One choice is ours there, too: a rule that covers no record of its class is worth nothing, as "
    "covering would otherwise "
    'end with empty rules. Rows named "our defaults" polish the rules and let them vote. These defaults were chosen on '
    "the first runs of these five data sets, which flatters them.",
    "It does not say how missing numbers (breast-w) are perturbed: here they are read as the schema's fill value. "
    "It is silent on the settings of Weka beyond its defaults, which scikit-learn does not share.",
)

CLEAR = (
    "As far as the well-known classifiers agree, they suggest that data, folds and the way of counting are alike; what "
    "differs between Weka and scikit-learn (pruning, bins, steps of the perceptron) is left.",
    "Where sequential covering and wLapMS ABC of the thesis are above ours, no way of classifying all records that "
    "we tried reaches the figures; a count that leaves out records that no rule matches, and calls one right if any "
    "matching rule is, comes near most of them or passes them. That the thesis counted so is our inference; it does "
    "not say so. The report on bees of our benchmarks has the steps. Where 1-rule ABC of the thesis is below ours, "
    "it is to be known that the thesis has other figures for it in Table 5.11.",
)

PERTURBED = (
    "Rows named as in the thesis are trained on records with its noise, which guarantees nothing (last section of "
    "this part). Rows "
    '"under local privacy" are trained on records perturbed one by one with our LocalPerturbation, whose ε is for the '
    'whole record, its label included. Rows "private" are models of ours that see the records and publish noisy counts '
    f"at the same ε, add-remove: where one party may hold the data, that is the way. {NOT_EQUAL_PRIVACY}"
)

EXPLAINED = (
    "Noise can help a learner that overfits, so that a gain alone proves nothing. The count described above, which "
    "favours many rules that contradict each other, may explain a part of the thesis's gains, untested on noise; what "
    "is left of sequential covering on sonar we cannot explain.",
    "Under local privacy every value of a record has an equal share of ε, the label too, which costs accuracy most on "
    "tables of a few hundred records. That is the price of an honest ε for a table of records.",
)

NUMBERS = (
    "wLapMS ABC has its number of rules set, so that it agrees by construction; PART and RIPPER have no "
    "counterpart. Rules of sequential covering depend on when the colony finds nothing better, and on how wide "
    "intervals are when the search ends, which the thesis describes only in part. On noise ours covers few records "
    "a rule and needs more of them."
)

IRIS = (
    "Under local privacy numbers are clamped to their public bounds, which keeps their variance small although the "
    "noise is several times wider; correlations say how little of a single number is left. Here attributes alone "
    "are perturbed, in the order of the records, each at the share of ε that it has beside the label."
)

COLONIES = (
    "Figures of other authors are as the thesis quotes them, from experiments of their own; nothing of theirs was "
    "run here."
)

HONEST = (
    "A record has its label and its categories in the clear, which alone makes the loss infinite. The range of the "
    "data sets the noise of all records, so that one extreme record shows. Were labels hidden and ranges public, a "
    "record of d numbers would lose d times the claimed ε. LocalPerturbation perturbs labels and categories too, "
    "takes public bounds and divides ε among all values of a record: its rows above are the honest counterpart."
)
