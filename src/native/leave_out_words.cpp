// leave_out_words of kernels/sparse.py: the log likelihoods of texts, band by band, each as if it had
// not been counted.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bindings.h"
#include "sparse_table.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

constexpr double negligible = 1e-12;  // NEGLIGIBLE of kernels/double_double.py
constexpr double rounding = 1e-9;     // ROUNDING of counting/parts.py

// What is known of a word.
struct Counted {
    double frequency;  // how often it comes in all texts
    double pretend;    // its pretend count
    double log_pretend;
};

struct Words {
    const Counted* of_word;
    const AddedRows* gains;      // log (count + pretend count) - log (pretend count)
    const LookedUpRows* losses;  // of these, without one count
    const double* gain;          // of each stored cell
    const double* total;         // of all words, with pretend counts, in each class
    bool all_whole;              // whether no count is less than 1
    bool grows;                  // whether a word that no text has is none
};

// log (count + pretend count) - log (pretend count): most counts are small whole numbers.
class Gains {
  public:
    double of(double count) const {
        const auto whole = static_cast<size_t>(count < 0.0 || count > MOST ? 0.0 : count);
        if (static_cast<double>(whole) == count) return small_[whole];
        return std::log(count + pretend_) - log_pretend_;
    }
    double log_pretend() const { return log_pretend_; }
    void set_pretend(double pretend) {
        if (pretend == pretend_) return;
        pretend_ = pretend;
        log_pretend_ = std::log(pretend);
        for (size_t n = 0; n < small_.size(); ++n)
            small_[n] = std::log(static_cast<double>(n) + pretend) - log_pretend_;
    }

  private:
    static constexpr double MOST = 15;
    double pretend_ = -1.0, log_pretend_ = 0.0;
    std::array<double, 16> small_{};
};

// The band of a word that so many texts hold: see band_of of counting/parts.py.
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
                                          const Words& of, const std::int32_t* y, const double* w,
                                          int64_t bands, int64_t k, double* evidence,
                                          double* lengths, int64_t begin, int64_t end) {
    std::vector<double> length(bands), shift(bands);
    for (int64_t row = begin; row < end; ++row) {
        double* const of_row = evidence + row * bands * k;
        std::fill(length.begin(), length.end(), 0.0);
        std::fill(shift.begin(), shift.end(), 0.0);
        const std::int32_t own_class = y[row];
        const double weight = w == nullptr ? 1.0 : w[row];
        double gone = 0.0;   // of the counts of the row's own class
        double alone = 0.0;  // pretend counts of words that only this row has
        const int64_t last = matrix.starts()[row + 1];
        constexpr int64_t ahead = 10;
        for (int64_t e = matrix.starts()[row]; e < last; ++e) {
            if (e + 2 * ahead < last) {
                const std::int32_t later = matrix.words()[e + 2 * ahead];
                __builtin_prefetch(of.of_word + later);
                of.gains->prefetch_place(later);
            }
            if (e + ahead < last) {
                of.gains->prefetch(matrix.words()[e + ahead]);
                of.losses->prefetch(matrix.words()[e + ahead], own_class);
            }
            const std::int32_t word = matrix.words()[e];
            const Counted counted = of.of_word[word];
            const double x = matrix.times(e), own = weight * x;
            const double others = counted.frequency - own;
            const bool is_alone = of.grows && others <= negligible;
            const int64_t band = bands > 1 ? std::min(band_of(others), bands - 1) : 0;
            double* const of_band = of_row + band * k;
            if (of.all_whole && own == 1.0) {
                gone += 1.0;
                if (!is_alone) of_band[own_class] += x * of.losses->value(word, own_class);
            } else {
                const int64_t cell = find_cell(table, word, own_class);
                const double before = cell < 0 ? 0.0 : table.values()[cell];
                const double left = std::max(before - own, 0.0);
                gone += before - left;
                if (!is_alone && cell >= 0)
                    of_band[own_class] += x * (std::log(left + counted.pretend) -
                                               counted.log_pretend - of.gain[cell]);
            }
            if (is_alone) {
                alone += counted.pretend;
                continue;
            }
            length[band] += x;
            shift[band] += x * counted.log_pretend;
            of.gains->add(word, x, of_band);
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
        LargeVector<double> gain(table.cells()), loss(table.cells());
        LargeVector<Counted> of_word(table.rows());
        bool all_whole = true;
        Gains of;
        for (int64_t word = 0; word < table.rows(); ++word) {
            of.set_pretend(pretends.data()[word]);
            of_word[word] = {often.data()[word], pretends.data()[word], of.log_pretend()};
            for (int64_t i = table.first()[word]; i < table.first()[word + 1]; ++i) {
                const double n = table.values()[i];
                all_whole &= n >= 1.0;
                gain[i] = of.of(n);
                loss[i] = of.of(std::max(n - 1.0, 0.0)) - gain[i];
            }
        }
        const AddedRows gains(table, gain.data(), k);
        const LookedUpRows losses(gains, loss.data());
        const Words words{of_word.data(), &gains,        &losses,
                       gain.data(),    totals.data(), all_whole, grows};
        const double per_row = static_cast<double>(matrix.entries()) /
                               static_cast<double>(std::max<int64_t>(1, matrix.rows()));
        run_parts(matrix.rows(), count_parts(matrix.rows(), 8.0 * per_row),
                  [&](int64_t begin, int64_t end, int) {
                      on_best_instruction_set([&](auto) NAIVELY_INLINE {
                          leave_out_part(matrix, table, words, own.data(), weights.data(), bands, k,
                                         evidence.data(), lengths.data(), begin, end);
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
