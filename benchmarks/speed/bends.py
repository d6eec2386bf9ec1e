"""Where each curve bends, and why: written by looking at the pictures, one sentence for each.

A sentence is of the pictures that are committed; look again when the curves are measured again.
"""

BENDS = {
    ("GaussianNB", "rows"): "up to some 10,000 rows the call itself, 0.6 ms on either side, costs "
    "more than its cells; then naively is flat, at 3 ns a cell, while scikit-learn's temporary "
    "arrays outgrow the caches and its curves rise again.",
    ("GaussianNB", "columns"): "all fall until a row has about 100 columns, which share what it "
    "costs once: its label, its place among the rows of its class, its probabilities.",
    ("GaussianNB", "classes"): "a fit adds each cell to one class only and is flat up to about 100 "
    "classes, from where on the sums of all classes are larger than the nearest cache; prediction "
    "compares each cell with each class and grows in proportion, on both sides.",
    ("NaiveBayes, numbers", "rows"): "the fit bends down after 10,000 rows, which is how many its "
    "weights are fitted to: from there on only the counting grows; prediction is flat from 1,000 "
    "rows on.",
    (
        "NaiveBayes, numbers",
        "columns",
    ): "both bend at about 30 columns, where what a row costs once "
    "is spread thin; then the fit rises a little, for its weights and its linear part are solved "
    "for all columns together.",
    ("NaiveBayes, numbers", "classes"): "the fit grows with the classes from the beginning, since "
    "the leave-one-out table of its sample has a column for each class, and each column of the "
    "table a weight for each; prediction follows from about 10 classes on.",
    (
        "MultinomialNB",
        "rows",
    ): "a fit of few rows takes 8 ms whatever they hold, for the table of 2 "
    "million logarithms (words times classes); above some 30,000 rows the counts cost more than it "
    "does.",
    ("MultinomialNB", "words"): "the fit is flat up to 10,000 words and then rises with the same "
    "table, which has more entries than the matrix has counts; naively's prediction stays flat.",
    ("MultinomialNB", "classes"): "all bend up at about 16 classes: prediction adds one entry for "
    "each class and count, and the fit makes a table of words times classes; naively's fit rises "
    "least.",
    (
        "NaiveBayes, texts",
        "texts",
    ): "prediction is flat from some 300 texts on; the fit falls after "
    "10,000 texts, since its weights are fitted to no more than these.",
    ("NaiveBayes, texts", "words"): "there is no bend: all rise by less than twice from 100 words "
    "to 300,000, as more of the words and bigrams are new, or far apart in memory.",
    ("NaiveBayes, texts", "classes"): "the fit bends up after 5 classes, since the leave-one-out "
    "table of its texts has a column for each class; prediction hardly rises until some 40, for "
    "most words come in few classes and only those are looked up.",
}
