// Scores of the rows of CSR and code matrices: sums of rows of a table.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arrays.h"
#include "gather.h"
#include "kernels.h"
#include "sparse.h"
#include "threads.h"

namespace naively {
namespace {

constexpr int64_t chunk = 512;  // entries at a time

// Call score_row(row, joint) for every row, and finish.
template <class Isa, class ScoreRow>
NAIVELY_INLINE inline void score_rows(const Scores& scores, int64_t begin, int64_t end,
                                      const ScoreRow& score_row) {
    const int64_t k = scores.classes();
    Finisher finisher(scores.output(), end - begin);
    for (int64_t first = begin; first < end; first += Finisher::max_rows) {
        const int64_t rows = std::min(Finisher::max_rows, end - first);
        double* joint = finisher.rows_at(first);
        for (int64_t i = 0; i < rows; ++i) {
            std::copy_n(scores.start(first + i), k, joint + i * k);
            score_row(first + i, joint + i * k);
        }
        finisher.finish(first, rows);
    }
}

// Reads entries as doubles. Zeros add nothing, not even where the table says -inf, nor do NaN.
template <class Index, class Value>
class EntryReader {
  public:
    EntryReader(const Index* columns, const Value* values, int64_t width, int64_t end)
        : columns_(columns), values_(values), width_(width), end_(end) {}

    NAIVELY_INLINE inline TableRows<Index> read(int64_t begin, int64_t count) {
        const Index* columns = columns_ + begin;
        check_columns(columns, count, width_);
        bool all_count = true;
        for (int64_t e = 0; e < count; ++e) {
            const auto value = static_cast<double>(values_[begin + e]);
            value_[e] = value;
            all_count &= value < 0.0 || value > 0.0;
        }
        if (all_count) return {columns, value_.data(), count, end_ - begin};
        int64_t kept = 0;
        for (int64_t e = 0; e < count; ++e) {
            if (!(value_[e] < 0.0 || value_[e] > 0.0)) continue;
            value_[kept] = value_[e];
            column_[kept++] = columns[e];
        }
        return {column_.data(), value_.data(), kept, kept};
    }

  private:
    const Index* columns_;
    const Value* values_;
    int64_t width_, end_;
    std::array<double, chunk> value_;
    std::array<Index, chunk> column_;
};

}  // namespace

nb::object score_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle slope,
                     nb::handle start, const char* finish, nb::handle log_prior) {
    const CsrMatrix matrix(indptr, indices, data);
    const Array table = import_floats(slope, 2, "slope");
    const int64_t width = table.shape(0), k = table.shape(1);
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    {
        nb::gil_scoped_release released;
        const double operations = 1.0 + static_cast<double>(matrix.entries() * k) /
                                            static_cast<double>(std::max<int64_t>(1, matrix.rows()));
        matrix.visit([&](auto* columns, auto* values) {
            run_parts(matrix.rows(), count_parts(matrix.rows(), operations), [&](int64_t begin, int64_t end, int) {
                EntryReader reader(columns, values, width, matrix.end_of_entries());
                on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                    using Isa = decltype(isa);
                    score_rows<Isa>(scores, begin, end, [&](int64_t row, double* joint) NAIVELY_INLINE {
                        const int64_t row_end = matrix.starts()[row + 1];
                        for (int64_t e = matrix.starts()[row]; e < row_end; e += chunk)
                            add_table_rows<Isa, true>(table.data<double>(), k,
                                                      reader.read(e, std::min(chunk, row_end - e)), joint);
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
    const Array rows = import_floats(table, 2, "table");
    const int64_t k = rows.shape(1), columns = matrix.columns();
    if (matrix.levels() > rows.shape(0)) throw nb::value_error("the table has too few rows");
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    {
        nb::gil_scoped_release released;
        const auto operations = static_cast<double>(1 + columns * (k + 4));
        matrix.visit([&](auto* code) {
            run_parts(matrix.rows(), count_parts(matrix.rows(), operations), [&](int64_t begin, int64_t end, int) {
                std::vector<int64_t> level(columns);
                const int64_t* starts = matrix.starts();
                on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                    using Isa = decltype(isa);
                    score_rows<Isa>(scores, begin, end, [&](int64_t row, double* joint) NAIVELY_INLINE {
                        const auto* cell = code + row * matrix.row_stride();
                        int64_t present = 0;
                        bool outside = false;
                        for (int64_t j = 0; j < columns; ++j) {
                            const int64_t value = cell[j * matrix.column_stride()];
                            level[present] = starts[j] + value;
                            outside |= value >= starts[j + 1] - starts[j];
                            present += value >= 0;
                        }
                        if (outside) throw std::invalid_argument("a level code is out of range");
                        add_table_rows<Isa, false>(rows.data<double>(), k,
                                                   TableRows<int64_t>{level.data(), nullptr, present, present},
                                                   joint);
                    });
                });
            });
        });
    }
    return scores.object();
}

nb::object finish_rows(nb::handle joint, const char* finish, nb::handle log_prior) {
    const Array rows = import_floats(joint, 2, "joint");
    const int64_t k = rows.shape(1);
    const Scores scores(rows.shape(0), k, joint, finish, log_prior);
    {
        nb::gil_scoped_release released;
        const int parts = count_parts(scores.rows(), static_cast<double>(8 * k));
        run_parts(scores.rows(), parts, [&](int64_t begin, int64_t end, int) {
            on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                score_rows<decltype(isa)>(scores, begin, end, [](int64_t, double*) NAIVELY_INLINE {});
            });
        });
    }
    return scores.object();
}

}  // namespace naively
