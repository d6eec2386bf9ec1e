// score_codes of kernels/reference.py: start + the table's row of each level.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "code_matrix.h"
#include "score_rows.h"
#include "table_rows.h"
#include "threads.h"

namespace naively {
namespace {

nb::object score_codes(nb::handle codes, nb::handle first, nb::handle table, nb::handle start,
                       const char* finish, nb::handle log_prior, bool complete) {
    const CodeMatrix matrix(codes, first);
    const Doubles rows(table, "table", 2);
    const int64_t k = rows.shape(1), columns = matrix.columns();
    if (matrix.levels() > rows.shape(0)) throw std::invalid_argument("the table has too few rows");
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
                        if (complete && present < columns)
                            throw std::invalid_argument("a cell is missing");
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

}  // namespace

void bind_score_codes(nb::module_& m) {
    m.def("score_codes", &score_codes, nb::arg("codes"), nb::arg("first"), nb::arg("table"),
          nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"), nb::arg("complete") = false);
}

}  // namespace naively
