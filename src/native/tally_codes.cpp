// tally_codes of kernels/reference.py: counts of the level codes of each column, by class.
#include <cstdint>
#include <stdexcept>

#include "bindings.h"
#include "code_matrix.h"
#include "scatter.h"
#include "simd.h"
#include "tally_rows.h"

namespace naively {
namespace {

template <class Cell, class Code>
void add_code_rows(const CodeMatrix& matrix, const Code* codes, const std::int32_t* y,
                   const double* w, int64_t k, bool complete, int64_t begin, int64_t end,
                   Cell* table) {
    const int64_t* starts = matrix.starts();
    const auto add_cell = [&](int64_t row, int64_t j) NAIVELY_INLINE {
        const int64_t code = codes[row * matrix.row_stride() + j * matrix.column_stride()];
        if (code < 0) {
            if (complete) throw std::invalid_argument("a cell is missing");
            return;
        }
        if (code >= starts[j + 1] - starts[j])
            throw std::invalid_argument("a level code is out of range");
        add(table[(starts[j] + code) * k + y[row]], w ? w[row] : 1.0);
    };
    for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < matrix.columns(); ++j) add_cell(row, j);
}

nb::object tally_codes(nb::handle codes, nb::handle first, nb::handle y, nb::handle w, int64_t k,
                       bool complete) {
    const CodeMatrix matrix(codes, first);
    const int64_t rows = matrix.rows(), cells = count_cells(matrix.levels(), k);
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const Wholeness seen = look_at_weights(weights.data(), rows);
    const int parts = count_table_parts(rows, rows * matrix.columns(), cells);
    const auto count_as = [&](auto zero) {
        using Cell = decltype(zero);
        return tally_into_table<Cell>(matrix.levels(), k, [&](Cell* table) {
            matrix.visit([&](auto* code) {
                scatter(rows, parts, cells, table, [&](int64_t begin, int64_t end, Cell* to, int) {
                    add_code_rows(matrix, code, classes.data(), weights.data(), k, complete,
                                  begin, end, to);
                });
            });
        });
    };
    return seen.sums_are_exact(rows) ? count_as(double{}) : count_as(Sum{});
}

}  // namespace

void bind_tally_codes(nb::module_& m) {
    m.def("tally_codes", &tally_codes, nb::arg("codes"), nb::arg("first"), nb::arg("y"),
          nb::arg("w").none(), nb::arg("k"), nb::arg("complete") = false);
}

}  // namespace naively
