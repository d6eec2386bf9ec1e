// Scores of the rows of CSR and code matrices: sums of rows of a table.
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "gather.h"
#include "held.h"
#include "kernels.h"
#include "scores.h"
#include "sparse.h"
#include "threads.h"

namespace naively {
namespace {

// Score every row and finish: prepare(first, rows) is called for a few rows at a time, then
// score_row(row, joint) for each of them.
template <class Prepare, class ScoreRow>
NAIVELY_INLINE inline void score_rows(const Scores& scores, int64_t begin, int64_t end,
                                      const Prepare& prepare, const ScoreRow& score_row) {
    const int64_t k = scores.classes();
    Finisher finisher(scores.output(), end - begin);
    for (int64_t first = begin; first < end; first += Finisher::max_rows) {
        const int64_t rows = std::min(Finisher::max_rows, end - first);
        double* joint = finisher.rows_at(first);
        prepare(first, rows);
        for (int64_t i = 0; i < rows; ++i) {
            std::copy_n(scores.start(first + i), k, joint + i * k);
            score_row(first + i, joint + i * k);
        }
        finisher.finish(first, rows);
    }
}

// Adds entries to a row's scores, as doubles and without those that add nothing: NaN, and zeros,
// even where the table says -inf.
template <class Index, class Value>
class EntryAdder {
  public:
    EntryAdder(const Index* columns, const Value* values, const double* table, int64_t width,
               int64_t classes, int64_t end)
        : columns_(columns), values_(values), table_(table), width_(width), classes_(classes),
          end_(width * classes * static_cast<int64_t>(sizeof(double)) > cached_bytes ? end : 0) {}

    // Look at entries before they are added.
    NAIVELY_INLINE inline void prepare(int64_t begin, int64_t end) {
        check_columns(columns_ + begin, end - begin, width_);
        if constexpr (std::is_same_v<Value, double>) {
            bool all_count = true;
            for (int64_t e = begin; e < end; ++e) all_count &= values_[e] < 0.0 || values_[e] > 0.0;
            as_they_are_ = all_count;
        }
    }

    template <class Isa>
    NAIVELY_INLINE inline void add(int64_t begin, int64_t end, double* joint) {
        if constexpr (std::is_same_v<Value, double>) {
            if (as_they_are_)
                return add_table_rows<Isa, true>(
                    table_, classes_,
                    TableRows<Index>{columns_ + begin, values_ + begin, end - begin, end_ - begin},
                    joint);
        }
        for (; begin < end; begin += chunk) {
            const int64_t count = std::min(chunk, end - begin);
            int64_t kept = 0;
            for (int64_t e = begin; e < begin + count; ++e) {
                const auto value = static_cast<double>(values_[e]);
                column_[kept] = columns_[e];
                value_[kept] = value;
                kept += value < 0.0 || value > 0.0;
            }
            add_table_rows<Isa, true>(
                table_, classes_, TableRows<Index>{column_.data(), value_.data(), kept, 0}, joint);
        }
    }

    // Add entries again whose sums have overflown.
    NAIVELY_INLINE inline void add_held(int64_t begin, int64_t end, const double* start,
                                        double* joint) const {
        std::vector<double> sums(classes_);
        for (int64_t e = begin; e < end; ++e) {
            const auto value = static_cast<double>(values_[e]);
            if (!(value < 0.0 || value > 0.0)) continue;
            const double* slope = table_ + columns_[e] * classes_;
            for (int64_t c = 0; c < classes_; ++c) sums[c] += held_product(value, slope[c]);
        }
        for (int64_t c = 0; c < classes_; ++c) joint[c] = start[c] + sums[c];
    }

  private:
    static constexpr int64_t chunk = 512;

    const Index* columns_;
    const Value* values_;
    const double* table_;
    int64_t width_, classes_, end_;
    bool as_they_are_ = false;
    std::array<double, chunk> value_;
    std::array<Index, chunk> column_;
};

}  // namespace

nb::object score_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle slope,
                     nb::handle start, const char* finish, nb::handle log_prior) {
    const CsrMatrix matrix(indptr, indices, data);
    const Doubles table(slope, "slope", 2);
    const int64_t width = table.shape(0), k = table.shape(1);
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    {
        nb::gil_scoped_release released;
        const double operations =
            1.0 + static_cast<double>(matrix.entries() * k) /
                      static_cast<double>(std::max<int64_t>(1, matrix.rows()));
        const int parts = count_parts(matrix.rows(), operations);
        matrix.visit([&](auto* columns, auto* values) {
            run_parts(matrix.rows(), parts, [&](int64_t begin, int64_t end, int) {
                const int64_t* starts = matrix.starts();
                EntryAdder adder(columns, values, table.data(), width, k,
                                 starts[matrix.rows()]);
                on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                    score_rows(
                        scores, begin, end,
                        [&](int64_t first, int64_t rows)
                            NAIVELY_INLINE { adder.prepare(starts[first], starts[first + rows]); },
                        [&](int64_t row, double* joint) NAIVELY_INLINE {
                            const int64_t entry = starts[row], last = starts[row + 1];
                            adder.template add<decltype(isa)>(entry, last, joint);
                            if (overflown(joint, scores.start(row), k))
                                adder.add_held(entry, last, scores.start(row), joint);
                        });
                });
            });
        });
    }
    return scores.object();
}

nb::object score_codes(nb::handle codes, nb::handle first, nb::handle table, nb::handle start,
                       const char* finish, nb::handle log_prior) {
    const CodeMatrix matrix(codes, first);
    const Doubles rows(table, "table", 2);
    const int64_t k = rows.shape(1), columns = matrix.columns();
    if (matrix.levels() > rows.shape(0)) throw nb::value_error("the table has too few rows");
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    {
        nb::gil_scoped_release released;
        const auto operations = static_cast<double>(1 + columns * (k + 4));
        const int parts = count_parts(matrix.rows(), operations);
        matrix.visit([&](auto* code) {
            run_parts(matrix.rows(), parts, [&](int64_t begin, int64_t end, int) {
                std::vector<int64_t> level(columns);
                const int64_t* starts = matrix.starts();
                on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                    const auto score_row = [&](int64_t row, double* joint) NAIVELY_INLINE {
                        const auto* cell = code + row * matrix.row_stride();
                        int64_t present = 0;
                        bool outside = false;
                        for (int64_t j = 0; j < columns; ++j) {
                            const int64_t value = cell[j * matrix.column_stride()];
                            // A code past the last row reads that row: the level never seen.
                            const int64_t last = starts[j + 1] - starts[j] - 1;
                            level[present] = starts[j] + std::min<int64_t>(value, last);
                            outside |= (value >= 0) & (last < 0);
                            present += value >= 0;
                        }
                        if (outside) throw std::invalid_argument("a level code is out of range");
                        add_table_rows<decltype(isa), false>(
                            rows.data(), k,
                            TableRows<int64_t>{level.data(), nullptr, present, 0}, joint);
                    };
                    const auto prepare = [](int64_t, int64_t) NAIVELY_INLINE {};
                    score_rows(scores, begin, end, prepare, score_row);
                });
            });
        });
    }
    return scores.object();
}

nb::object finish_rows(nb::handle joint, const char* finish, nb::handle log_prior) {
    const Doubles rows(joint, "joint", 2);
    const int64_t k = rows.shape(1);
    const Scores scores(rows.shape(0), k, joint, finish, log_prior);
    {
        nb::gil_scoped_release released;
        const int parts = count_parts(scores.rows(), static_cast<double>(8 * k));
        run_parts(scores.rows(), parts, [&](int64_t begin, int64_t end, int) {
            on_best_instruction_set([&](auto) NAIVELY_INLINE {
                score_rows(scores, begin, end, [](int64_t, int64_t) NAIVELY_INLINE {},
                           [](int64_t, double*) NAIVELY_INLINE {});
            });
        });
    }
    return scores.object();
}

}  // namespace naively
