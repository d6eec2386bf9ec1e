// leave_out_words of kernels/sparse.py: the log likelihoods of texts, band by band, each as if it had
// not been counted.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "sparse_table.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

constexpr double negligible = 1e-12;  // NEGLIGIBLE of kernels/double_double.py
constexpr double rounding = 1e-9;     // ROUNDING of counting/leave_one_out.py

constexpr double alike = 1e-12;       // share by which weights of rows differ that rounding sets apart

inline bool are_alike(double a, double b) { return std::abs(a - b) <= alike * b; }

// What most rows of a class weigh, (classes,): the least that any of them does. Where rows have copies,
// those of a class weigh less than 1, and most of them alike.
std::vector<double> units_of(const std::int32_t* y, const double* w, int64_t rows, int64_t k) {
    std::vector<double> units(static_cast<size_t>(k), w == nullptr || rows == 0 ? 1.0 : 0.0);
    if (w == nullptr) return units;
    for (int64_t row = 0; row < rows; ++row) {
        double& unit = units[static_cast<size_t>(y[row])];
        if (w[row] > 0.0 && (unit == 0.0 || w[row] < unit)) unit = w[row];
    }
    for (double& unit : units)
        if (unit == 0.0) unit = 1.0;
    return units;
}

// By how much a count of a word raises its log likelihood, and what of that goes with one unit.
struct Gain {
    double gain;  // log (count + pretend count) - log (pretend count)
    double loss;  // this of one unit less, minus this
};

// The gains of counts, each by its number. Most counts are a few units of words whose pretend counts
// are alike, and have the same few gains in each class.
class Gains {
  public:
    explicit Gains(const std::vector<double>& units) : units_(units) {}

    // Of the word whose counts are asked for next.
    void set_pretend(double pretend) {
        if (pretend == pretend_) return;
        pretend_ = pretend;
        log_pretend_ = std::log(pretend);
        if (!gains_.empty()) return;
        first_pretend_ = pretend;
        for (const double unit : units_)
            for (int n = 0; n <= MOST; ++n) gains_.push_back(gain_of(n * unit, unit));
    }
    double log_pretend() const { return log_pretend_; }

    uint32_t number_of(double count, std::int32_t of_class) {
        const double unit = units_[of_class], times = std::nearbyint(count / unit);
        if (pretend_ == first_pretend_ && times >= 0.0 && times <= MOST &&
            are_alike(times * unit, count))
            return static_cast<uint32_t>(of_class * (MOST + 1) + static_cast<int>(times));
        if (gains_.size() > UINT32_MAX) throw std::length_error("too many counts of words");
        gains_.push_back(gain_of(count, unit));
        return static_cast<uint32_t>(gains_.size() - 1);
    }

    const Gain& operator[](uint32_t number) const { return gains_[number]; }

  private:
    static constexpr int MOST = 15;
    std::vector<double> units_;
    LargeVector<Gain> gains_;
    double pretend_ = -1.0, log_pretend_ = 0.0, first_pretend_ = -1.0;

    double log_of(double count) const { return std::log(count + pretend_) - log_pretend_; }
    Gain gain_of(double count, double unit) const {
        const double gain = log_of(count);
        return {gain, log_of(std::max(count - unit, 0.0)) - gain};
    }
};

// What is known of the words, so laid out that little of it is fetched for each word of a text: a
// quarter of a line, `Known`, which says where its cells are. Of more than a few classes, a row with
// a cell in half of them or more is quicker to add as a whole: first the gains of all classes, then
// their losses.
class KnownWords {
  public:
    struct Known {
        double frequency;   // how often it comes in all texts
        uint32_t begin;     // of its cells, or the number of its whole row
        std::int32_t size;  // or WHOLE
    };

    KnownWords(const SparseTable& table, const double* frequency, const double* pretend, int64_t k,
               const std::vector<double>& units)
        : k_(k), gains_(units), known_(static_cast<size_t>(table.rows())),
          cells_(static_cast<size_t>(table.cells())) {
        if (table.cells() > UINT32_MAX) throw std::length_error("too many counts of words");
        if (std::any_of(pretend, pretend + table.rows(), [&](double p) { return p != *pretend; }))
            log_pretends_.resize(static_cast<size_t>(table.rows()));
        for (int64_t word = 0; word < table.rows(); ++word) {
            gains_.set_pretend(pretend[word]);
            const int64_t begin = table.first()[word], end = table.first()[word + 1];
            for (int64_t i = begin; i < end; ++i) {
                const double n = table.values()[i];
                all_there_ &= n >= (1 - alike) * units[table.classes()[i]];
                cells_[i] = {table.classes()[i], gains_.number_of(n, table.classes()[i])};
            }
            if (!log_pretends_.empty()) log_pretends_[word] = gains_.log_pretend();
            known_[word] = {frequency[word], static_cast<uint32_t>(begin),
                            static_cast<std::int32_t>(end - begin)};
            if (k > FEW && 2 * (end - begin) >= k && begin < end) make_whole(known_[word]);
        }
    }

    bool all_there() const { return all_there_; }
    const Known& operator[](std::int32_t word) const { return known_[word]; }
    double log_pretend(std::int32_t word) const {
        return log_pretends_.empty() ? gains_.log_pretend() : log_pretends_[word];
    }
    double gain(int64_t cell) const { return gains_[cells_[cell].number].gain; }

    void prefetch(std::int32_t word) const { __builtin_prefetch(&known_[word]); }
    void prefetch_cells(std::int32_t word, std::int32_t own_class) const {
        const Known& known = known_[word];
        if (known.size == WHOLE) {
            const double* const row = whole(known);
            for (int64_t c = 0; c < std::min<int64_t>(k_, 32); c += 8) __builtin_prefetch(row + c);
            __builtin_prefetch(row + k_ + own_class);
        } else {
            const auto* const cells = reinterpret_cast<const char*>(cells_.data() + known.begin);
            __builtin_prefetch(cells);
            if (known.size > 8) __builtin_prefetch(cells + 64);
        }
    }

    // Adds a word's gains to the sums of the classes, and its loss to that of one class before.
    NAIVELY_INLINE inline void add_without_one(const Known& known, double x, std::int32_t own_class,
                                               double* sums) const {
        if (known.size == WHOLE) {
            sums[own_class] += x * whole(known)[k_ + own_class];
            return add(known, x, sums);
        }
        const Cell* const cells = cells_.data() + known.begin;
        for (int64_t i = 0; i < known.size; ++i) {
            const Gain& of = gains_[cells[i].number];
            const double loss = cells[i].of_class == own_class ? x * of.loss : 0.0;
            double& sum = sums[cells[i].of_class];
            sum = sum + loss + x * of.gain;
        }
    }

    NAIVELY_INLINE inline void add(const Known& known, double x, double* sums) const {
        if (known.size == WHOLE) {
            const double* const gains = whole(known);
            for (int64_t c = 0; c < k_; ++c) sums[c] += x * gains[c];
        } else {
            const Cell* const cells = cells_.data() + known.begin;
            for (int64_t i = 0; i < known.size; ++i)
                sums[cells[i].of_class] += x * gains_[cells[i].number].gain;
        }
    }

  private:
    static constexpr std::int32_t WHOLE = -1;
    static constexpr int64_t FEW = 4;  // classes, the cells of which take less memory than a row
    struct Cell {
        std::int32_t of_class;
        uint32_t number;  // of its gain
    };
    int64_t k_;
    Gains gains_;
    LargeVector<Known> known_;
    LargeVector<Cell> cells_;
    LargeVector<double> whole_;
    LargeVector<double> log_pretends_;  // of each word; empty if all are alike
    bool all_there_ = true;  // whether no count is less than a unit

    const double* whole(const Known& known) const {
        return whole_.data() + static_cast<size_t>(known.begin) * 2 * static_cast<size_t>(k_);
    }

    void make_whole(Known& known) {
        const size_t at = whole_.size();
        whole_.resize(at + 2 * static_cast<size_t>(k_));
        const Cell* const cells = cells_.data() + known.begin;
        for (std::int32_t i = 0; i < known.size; ++i) {
            const Gain& of = gains_[cells[i].number];
            whole_[at + cells[i].of_class] = of.gain;
            whole_[at + k_ + cells[i].of_class] = of.loss;
        }
        known.begin = static_cast<uint32_t>(at / (2 * static_cast<size_t>(k_)));
        known.size = WHOLE;
    }
};

struct Words {
    const KnownWords* known;
    const double* pretend;  // the pretend count of each word
    const double* total;    // of all words, with pretend counts, in each class
    bool grows;             // whether a word that no text has is none
};

// The band of a word that so many texts hold: see band_of of counting/leave_one_out.py.
NAIVELY_INLINE inline int64_t band_of(double texts) {
    const double of = std::max(texts, 1.0) * (1 + rounding);
    std::uint64_t bits;
    std::memcpy(&bits, &of, sizeof bits);
    return static_cast<int64_t>(bits >> 52) - 1023;
}

// The cell of a word in a class; -1 if there is none.
NAIVELY_INLINE inline int64_t find_cell(const SparseTable& table, std::int32_t word,
                                        std::int32_t wanted) {
    const std::int32_t* const begin = table.classes() + table.first()[word];
    const std::int32_t* const end = table.classes() + table.first()[word + 1];
    const std::int32_t* const cell = std::lower_bound(begin, end, wanted);
    return cell != end && *cell == wanted ? cell - table.classes() : -1;
}

NAIVELY_INLINE inline void leave_out_part(const WordMatrix& matrix, const SparseTable& table,
                                          const Words& of, const std::vector<double>& units,
                                          const std::int32_t* y, const double* w,
                                          int64_t bands, int64_t k, double* evidence,
                                          double* lengths, int64_t begin, int64_t end) {
    const KnownWords& known_words = *of.known;
    std::vector<double> length(bands), shift(bands);
    for (int64_t row = begin; row < end; ++row) {
        double* const of_row = evidence + row * bands * k;
        std::fill(length.begin(), length.end(), 0.0);
        std::fill(shift.begin(), shift.end(), 0.0);
        const std::int32_t own_class = y[row];
        const double weight = w == nullptr ? 1.0 : w[row], unit = units[own_class];
        double gone = 0.0;   // of the counts of the row's own class
        double alone = 0.0;  // pretend counts of words that only this row has
        const int64_t last = matrix.starts()[row + 1];
        constexpr int64_t ahead = 10;
        for (int64_t e = matrix.starts()[row]; e < last; ++e) {
            if (e + 2 * ahead < last) known_words.prefetch(matrix.words()[e + 2 * ahead]);
            if (e + ahead < last) known_words.prefetch_cells(matrix.words()[e + ahead], own_class);
            const std::int32_t word = matrix.words()[e];
            const KnownWords::Known& known = known_words[word];
            const double x = matrix.times(e), own = weight * x;
            const double others = known.frequency - own;
            const bool is_alone = of.grows && others <= negligible;
            const bool is_one = known_words.all_there() && are_alike(own, unit);
            const int64_t cell = is_one ? -1 : find_cell(table, word, own_class);
            const double before = cell < 0 ? 0.0 : table.values()[cell];
            const double left = std::max(before - own, 0.0);
            gone += is_one ? unit : before - left;
            if (is_alone) {
                alone += of.pretend[word];
                continue;
            }
            const int64_t band = bands > 1 ? std::min(band_of(others), bands - 1) : 0;
            double* const of_band = of_row + band * k;
            length[band] += x;
            const double log_pretend = known_words.log_pretend(word);
            shift[band] += x * log_pretend;
            if (is_one) {
                known_words.add_without_one(known, x, own_class, of_band);
            } else {
                if (cell >= 0)
                    of_band[own_class] += x * (std::log(left + of.pretend[word]) - log_pretend -
                                               known_words.gain(cell));
                known_words.add(known, x, of_band);
            }
        }
        double words = 0.0;
        for (int64_t b = 0; b < bands; ++b) words += length[b];
        lengths[row] = words;
        for (int64_t c = 0; c < k; ++c) {
            const double total = of.total[c] - (c == own_class ? gone : 0.0) - alone;
            const double log_total = total > negligible ? std::log(total) : 0.0;
            for (int64_t b = 0; b < bands; ++b) {
                double& sum = of_row[b * k + c];
                // In a class without any counts the log likelihood is 0.
                sum = total > negligible ? sum + shift[b] - length[b] * log_total : 0.0;
            }
        }
    }
}

nb::tuple leave_out_words(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle y,
                          nb::handle w, nb::handle first, nb::handle classes, nb::handle count,
                          nb::handle frequency, nb::handle pretend, nb::handle total,
                          int64_t bands, bool grows) {
    const Doubles totals(total, "total", 1), often(frequency, "frequency", 1),
        pretends(pretend, "pretend", 1);
    const int64_t k = totals.shape(0);
    const SparseTable table(first, classes, count, k);
    const WordMatrix matrix(indptr, indices, data, table.rows());
    often.require_shape({table.rows()});
    pretends.require_shape({table.rows()});
    if (bands < 1) throw std::invalid_argument("there must be a band");
    const ClassIndices own(y, matrix.rows(), k);
    const Weights weights(w, matrix.rows());
    const Result<double> evidence("zeros", matrix.rows(), bands, k);
    const Result<double> lengths("empty", matrix.rows());
    {
        const nb::gil_scoped_release released;
        table.check(0, table.rows());
        const std::vector<double> units = units_of(own.data(), weights.data(), matrix.rows(), k);
        const KnownWords known(table, often.data(), pretends.data(), k, units);
        const Words words{&known, pretends.data(), totals.data(), grows};
        const double per_row = static_cast<double>(matrix.entries()) /
                               static_cast<double>(std::max<int64_t>(1, matrix.rows()));
        run_parts(matrix.rows(), count_parts(matrix.rows(), 8.0 * per_row),
                  [&](int64_t begin, int64_t end, int) {
                      on_best_instruction_set([&](auto) NAIVELY_INLINE {
                          leave_out_part(matrix, table, words, units, own.data(), weights.data(), bands,
                                         k, evidence.data(), lengths.data(), begin, end);
                      });
                  });
    }
    return nb::make_tuple(evidence.object(), lengths.object());
}

}  // namespace

void bind_leave_out_words(nb::module_& m) {
    m.def("leave_out_words", &leave_out_words, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data").none(), nb::arg("y"), nb::arg("w").none(), nb::arg("first"),
          nb::arg("classes"), nb::arg("count"), nb::arg("frequency"), nb::arg("pretend"),
          nb::arg("total"), nb::arg("bands"), nb::arg("grows") = true);
}

}  // namespace naively
