// score_sparse of kernels/sparse.py: texts scored by the slopes of words in bands, which differ from
// those of the band in the classes that the word was counted in.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bindings.h"
#include "scores.h"
#include "sparse_table.h"
#include "threads.h"

namespace naively {
namespace {

// What words in bands have in common.
struct Bands {
    const std::uint8_t* of_word;  // (words,)
    const double* shift;          // of each word, times the weights of its band
    const double* slope;          // (bands, classes)
    const double* weight;         // (bands, classes)
    int64_t count;
};

// The rows of a table as it is, for few texts: each is checked when it is used.
class CheckedRows {
  public:
    explicit CheckedRows(const SparseTable& table) : table_(table) {}
    void prefetch_place(int64_t row) const { __builtin_prefetch(table_.first() + row); }
    void prefetch(int64_t) const {}
    NAIVELY_INLINE inline void add(int64_t row, double x, double* sums) const {
        table_.check(row, row + 1);
        for (int64_t i = table_.first()[row]; i < table_.first()[row + 1]; ++i)
            sums[table_.classes()[i]] += x * table_.values()[i];
    }

  private:
    const SparseTable& table_;
};

template <class Rows>
NAIVELY_INLINE inline void score_part(const WordMatrix& matrix, const Rows& rows_of,
                                      const Bands& bands, double length_power, const Scores& scores,
                                      int64_t begin, int64_t end) {
    const int64_t k = scores.classes();
    Finisher finisher(scores.output(), end - begin);
    std::vector<double> sum(k), length(bands.count), shift(bands.count);
    for (int64_t from = begin; from < end; from += Finisher::max_rows) {
        const int64_t rows = std::min(end - from, Finisher::max_rows);
        double* joint = finisher.rows_at(from);
        for (int64_t row = from; row < from + rows; ++row, joint += k) {
            std::fill(sum.begin(), sum.end(), 0.0);
            std::fill(length.begin(), length.end(), 0.0);
            std::fill(shift.begin(), shift.end(), 0.0);
            const int64_t last = matrix.starts()[row + 1];
            constexpr int64_t ahead = 12;
            for (int64_t e = matrix.starts()[row]; e < last; ++e) {
                if (e + 2 * ahead < last) {
                    const std::int32_t later = matrix.words()[e + 2 * ahead];
                    rows_of.prefetch_place(later);
                    __builtin_prefetch(bands.shift + later);
                }
                if (e + ahead < last) rows_of.prefetch(matrix.words()[e + ahead]);
                const std::int32_t word = matrix.words()[e];
                const double x = matrix.times(e);
                const std::uint8_t band = bands.of_word[word];
                if (band >= bands.count) throw std::invalid_argument("a band is out of range");
                length[band] += x;
                shift[band] += x * bands.shift[word];
                rows_of.add(word, x, sum.data());
            }
            double words = 0.0;
            for (int64_t b = 0; b < bands.count; ++b) {
                if (length[b] == 0.0 && shift[b] == 0.0) continue;
                words += length[b];
                for (int64_t c = 0; c < k; ++c)
                    sum[c] += length[b] * bands.slope[b * k + c] + shift[b] * bands.weight[b * k + c];
            }
            const double factor = std::pow(std::max(words, 1.0), -length_power);
            const double* start = scores.start(row);
            for (int64_t c = 0; c < k; ++c) joint[c] = start[c] + factor * sum[c];
        }
        finisher.finish(from, rows);
    }
}

nb::object score_sparse(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle first,
                        nb::handle classes, nb::handle values, nb::handle band, nb::handle shift,
                        nb::handle slope, nb::handle weight, double length_power, nb::handle start,
                        const char* finish, nb::handle log_prior) {
    const Doubles slopes(slope, "slope", 2), weights(weight, "weight", 2);
    const int64_t k = slopes.shape(1), count = slopes.shape(0);
    weights.require_shape({count, k});
    const SparseTable table(first, classes, values, k);
    const WordMatrix matrix(indptr, indices, data, table.rows());
    const Input<Layout::contiguous, std::uint8_t> of_word(band, "band", 1);
    const Doubles shifts(shift, "shift", 1);
    of_word.require_shape({table.rows()});
    shifts.require_shape({table.rows()});
    const Bands bands{of_word.data(), shifts.data(), slopes.data(), weights.data(), count};
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    {
        const nb::gil_scoped_release released;
        const double per_row = static_cast<double>(matrix.entries()) /
                               static_cast<double>(std::max<int64_t>(1, matrix.rows()));
        const auto score_with = [&](const auto& rows) {
            run_parts(matrix.rows(), count_parts(matrix.rows(), 8.0 * per_row),
                      [&](int64_t begin, int64_t end, int) {
                          on_best_instruction_set([&](auto) NAIVELY_INLINE {
                              score_part(matrix, rows, bands, length_power, scores, begin, end);
                          });
                      });
        };
        // To prepare all rows pays where about as many are added.
        if (matrix.entries() < table.rows() + table.cells()) {
            score_with(CheckedRows(table));
        } else {
            table.check(0, table.rows());
            score_with(AddedRows(table, table.values(), k));
        }
    }
    return scores.object();
}

}  // namespace

void bind_score_sparse(nb::module_& m) {
    m.def("score_sparse", &score_sparse, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data").none(), nb::arg("first"), nb::arg("classes"), nb::arg("values"),
          nb::arg("band"), nb::arg("shift"), nb::arg("slope"), nb::arg("weight"),
          nb::arg("length_power"), nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"));
}

}  // namespace naively
