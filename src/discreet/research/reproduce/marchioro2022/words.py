"""The explanations, as opposed to measurements, in the study of Marchioro et al. 2022."""

INTRODUCTION = (
    "The paper trains a naive Bayes classifier among N nodes that share no records. Each sends class counts, counts "
    "of categories, sums and sums of squares once, with Laplace noise of its own; an aggregator adds the messages. "
    "The three figures give no numbers in the text and the paper has no table of accuracies, so that only statements "
    "about the figures can be compared, and the results of the authors' own program, which we ran. All data are "
    "public; the scores and the distributions below are computed in the clear and are not private."
)
CHOICES = (
    "Where the paper is silent, and what we chose. Test records: the paper splits once, 9 to 1, or as the data set "
    "comes, and repeats the noise; we cross-validate, so that the split varies too. Nodes: N is left out where a node "
    "would have fewer than two training records; SPECT's own split has so few training records that 100 nodes are "
    "ours alone. The epsilons are half-decades over the range that the paper names.",
    "Negative noisy counts and variances: the paper says nothing; we raise them as the authors' program does, to one "
    "millionth at each node and after adding. The central classifier: the paper refers to Vaidya et al. 2013; we take "
    "the formulas of the program, which put the noise of a standard deviation on the variance. Missing values are a "
    "category, and numbers are clipped to public bounds.",
    "As published means Algorithm 1 of the paper, where every count has noise. The program departs from it: a node "
    "without records of a class sends exact zeros for its categories. That is a model of its own here, 'program'.",
    "Ours: NaiveBayes at one place; the same with N parties that each add noise of their own, where with many parties "
    "each answers a few questions only; and a secure sum, where the shares of noise of all parties add up to that of "
    "one place. All three have public bounds and integer noise. Records are divided evenly and at random.",
)
FIGURE_1 = (
    "Accuracy against ε for the central classifier and for N nodes. A statement agrees if our runs of the published "
    "algorithm show it; where the statement has no threshold, we set one, after a first look at our runs: read the "
    "number beside a verdict before the verdict. Standard errors take runs as independent; runs share records, so that "
    "true errors may be larger."
)
AHEAD = (
    "Equal ε does not mean equal privacy: with numeric columns the published classifier guarantees nothing (see the "
    "last section), ours does. Where the published one is ahead on data without numeric columns, at large ε, we put it "
    "down to its not smoothing, untested: a category that a class does not have is next to impossible there, and on "
    "Mushroom that is right. Ours gives every category the weight that the noise makes necessary, which should pay at "
    "small ε. Secure sum and one place differ by chance: a few cells are expected to be out, on either side; a secure "
    "sum that allows for one dishonest party has slightly more noise than one place."
)
LEAK = (
    "The paper finds on two data sets with numbers that many nodes beat the central classifier, and explains it by "
    "smaller local sensitivities. We ran the exchange with the most nodes in two more ways. Noise alone: each exact "
    "count and sum is set to zero, and only the noise is sent, at the scale that the node's largest value sets. "
    "Nothing about the data is left but these scales, so that a classifier made of them should be a guess. Public "
    "bounds: as published, but with the largest value that the schema allows in place of the largest that the node "
    "holds; this is what the claim of ε needs. If the first is above the central classifier and the second is not, the "
    "advantage is the leak. How we think it comes about, untested: a class with larger values has more noise in its "
    "squares, negative sums of squares are raised to zero, and the aggregator reads the noise as a larger variance of "
    "that class. More nodes only average it better."
)
PROGRAM = (
    "Mean accuracies of the authors' published program, 20 runs each, with its own split and equal shares. Ours are "
    "over other splits, and on Votes a test set has a few dozen records, so that differences of a few hundredths say "
    "nothing. Without numeric columns one node and the central classifier have the same law, and the program shows "
    "how far two samples of 20 runs can be apart. A comparison on the program's own splits is in "
    "benchmarks/results/marchioro.md."
)
SPECT = (
    "The program reads SPECT with another column in the place of the diagnosis, so that its SPECT is another task "
    "than ours, and the paper's panel, if made with it, too. On SPECT nodes without one of the classes are common: "
    "there the exact zeros of the program tell who has nobody of a class, and change what the classifier answers."
)
NO_DATA = "The data sets of this figure are not here: name their folder by --directory or DISCREET_DATA."
FIGURE_2 = (
    "The sensitivity of a sum as the paper defines it is the largest absolute value that a node holds in a class. We "
    "show it as a share of the largest that the public schema allows, so that columns can be compared; the paper is "
    "silent on how it put columns of different units into one picture. The dashed line is what our noise is scaled "
    "to, at every node and whatever it holds. A scale that follows the data is the gap: it can be read off the noise."
)
FIGURE_3 = (
    "The error of S/n relative to the true mean, averaged over columns and classes; each draw has its own noise, and "
    "the records are divided anew for every few draws. The paper is silent on ε. Our default model has histograms and "
    "no mean; we show the mean in the soft counts of NaiveBayes(numeric='gaussian'), which hold the same class count "
    "and sum on the public range, all attributes asked, each party with the whole noise. Columns whose mean is small "
    "against their bounds, such as capital gains, make nearly all of the error."
)
GUARANTEE = (
    "With numeric columns no finite ε holds for the published messages: a node whose values of a class are all zero "
    "sends an exact zero, and with one other record it does not. Without numeric columns the claim holds under "
    "add-remove, and the loss is twice as large under replace-one, since a changed label moves two cells of each "
    "table. In the program, exact zeros for a class that a node does not have make the loss infinite there, too. The "
    "paper's remark that the Laplace mechanism is ε-DP with local sensitivities is an error, and so is that sums have "
    "no global sensitivity: with values clipped to public bounds they have one. Ours costs what is claimed: each "
    "party's answers add up to ε exactly. A secure sum has that loss if all but one of the parties are honest and "
    "only the sum is seen."
)
QUICK = "This is the quick run: small data, few repeats. A verdict may be another one in the full run."
