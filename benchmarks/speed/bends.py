"""Where each curve bends, and why: written by looking at the pictures, one sentence for each.

A sentence is of the pictures that are committed; look again when the curves are measured again.
"""

BENDS = {
    ("GaussianNB", "rows"): "up to some 10,000 rows the call itself costs more than its cells: "
    "0.1 ms for a fit by naively, 0.5 ms by scikit-learn; then naively is flat, at 1 ns a cell for "
    "a fit and 2 ns for a prediction, while the temporary arrays of scikit-learn's predictions "
    "outgrow the caches.",
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
    ): "a fit of few rows takes as long whatever they hold, for its tables "
    "of 2 million numbers (words times classes): 2 ms by naively, 12 ms by scikit-learn; the "
    "counts cost more than these above some 10,000 rows, and 30,000.",
    ("MultinomialNB", "words"): "the fit is flat up to 10,000 words and then rises with the same "
    "table, which has more entries than the matrix has counts; naively's prediction hardly rises.",
    ("MultinomialNB", "classes"): "all bend up at about 16 classes: prediction adds one entry for "
    "each class and count, and scikit-learn's fit makes a table of words times classes; of more "
    "than 30 classes naively's holds only those that each word came in, and hardly rises any more.",
    (
        "NaiveBayes, texts",
        "texts",
    ): "prediction hardly falls after 1,000 texts; the fit falls until some "
    "3,000, and again after 10,000, since its weights are fitted to no more than these.",
    (
        "NaiveBayes, texts",
        "words",
    ): "there is no bend: from 100 words to 300,000 a fit rises by less "
    "than twice, and naively's prediction by two and a half times, as more of the words and "
    "bigrams are new, or far apart in memory.",
    ("NaiveBayes, texts", "classes"): "the fit bends up after 5 classes, since the leave-one-out "
    "table of its texts has a column for each class; prediction hardly rises until some 40, for "
    "most words come in few classes and only those are looked up.",
}
