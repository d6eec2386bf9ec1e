// score_codes of kernels/reference.py: start + the table's row of each level, or of two at once.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "code_matrix.h"
#include "level_pairs.h"
#include "score_rows.h"
#include "table_rows.h"
#include "threads.h"

namespace naively {
namespace {

struct Table {
    const double* rows;
    int64_t classes;
    bool complete;
};

// Score some rows level by level.
template <class Isa, class Code>
NAIVELY_INLINE inline void score_levels(const CodeMatrix& matrix, const Code* codes,
                                        const Table& table, const Scores& scores, int64_t begin,
                                        int64_t end) {
    const int64_t columns = matrix.columns();
    const int64_t* starts = matrix.starts();
    std::vector<int64_t> level(columns);
    const auto score_row = [&](int64_t row, double* joint) NAIVELY_INLINE {
        const auto* cell = codes + row * matrix.row_stride();
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
        if (table.complete && present < columns) throw std::invalid_argument("a cell is missing");
        add_table_rows<Isa, false>(table.rows, table.classes,
                                   TableRows<int64_t>{level.data(), nullptr, present, 0}, joint);
    };
    const auto prepare = [](int64_t, int64_t) NAIVELY_INLINE {};
    score_rows(scores, begin, end, prepare, score_row);
}

// Score some rows by pairs of levels. No rows are read while a few are finished, so those that come
// later are prefetched.
template <class Isa, class Code>
NAIVELY_INLINE inline void score_pairs(const CodeMatrix& matrix, const Code* codes,
                                       const LevelPairs& pairs, bool complete, const Scores& scores,
                                       int64_t begin, int64_t end) {
    constexpr int64_t ahead = 64;
    std::vector<int64_t> level(pairs.columns() + 1), found(pairs.pairs());
    const auto prepare = [](int64_t, int64_t) NAIVELY_INLINE {};
    const auto score_row = [&](int64_t row, double* joint) NAIVELY_INLINE {
        const Code* cells = codes + row * matrix.row_stride();
        if (matrix.column_stride() == 1) {  // neighbours are read in vectors
            prefetch_range(cells, ahead * matrix.row_stride(), pairs.columns());
            pairs.template find<Isa>(cells, 1, complete, level.data(), found.data());
        } else {
            pairs.template find<Isa>(cells, matrix.column_stride(), complete, level.data(),
                                     found.data());
        }
        add_table_rows<Isa, false>(
            pairs.sums(), scores.classes(),
            TableRows<int64_t>{found.data(), nullptr, pairs.pairs(), 0}, joint);
    };
    score_rows(scores, begin, end, prepare, score_row);
}

nb::object score_codes(nb::handle codes, nb::handle first, nb::handle table, nb::handle start,
                       const char* finish, nb::handle log_prior, bool complete) {
    const CodeMatrix matrix(codes, first);
    const Doubles rows(table, "table", 2);
    const int64_t k = rows.shape(1);
    if (matrix.levels() > rows.shape(0)) throw std::invalid_argument("the table has too few rows");
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    const int64_t n = matrix.rows(), operations = 1 + matrix.columns() * (k + 4);
    std::optional<LevelPairs> pairs;
    if (LevelPairs::pay(matrix, k)) pairs.emplace(matrix, rows.data(), k);
    matrix.visit([&](auto* code) {
        run_rows(n, operations, [&](auto isa, int64_t begin, int64_t end) NAIVELY_INLINE {
            using Isa = decltype(isa);
            if (pairs)
                score_pairs<Isa>(matrix, code, *pairs, complete, scores, begin, end);
            else
                score_levels<Isa>(matrix, code, Table{rows.data(), k, complete}, scores, begin,
                                  end);
        });
    });
    return scores.object();
}

}  // namespace

void bind_score_codes(nb::module_& m) {
    m.def("score_codes", &score_codes, nb::arg("codes"), nb::arg("first"), nb::arg("table"),
          nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"), nb::arg("complete") = false);
}

}  // namespace naively
