// tally_cells of kernels/cells.py: counts of numbers by cell and class.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings.h"
#include "cell_table.h"
#include "dense.h"
#include "table_sums.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

template <class Total>
using CellTables = std::vector<CellTable<Total>>;  // of each column

template <class Total, class T>
void add_cell_rows(const Matrix<T>& matrix, const std::int32_t* y, const double* w, int64_t begin,
                   int64_t end, CellTables<Total>& tables) {
    ColumnPanel<T> panel(matrix);
    for (int64_t column = 0; column < matrix.columns; column += panel.max_columns) {
        const int64_t columns = std::min(panel.max_columns, matrix.columns - column);
        for (int64_t row = begin; row < end; row += panel.max_rows) {
            const int64_t rows = std::min(panel.max_rows, end - row);
            panel.read(row, rows, column, columns);
            for (int64_t j = 0; j < columns; ++j) {
                const T* x = panel.column(j);
                CellTable<Total>& table = tables[column + j];
                for (int64_t i = 0; i < rows; ++i) {
                    const double weight = w ? w[row + i] : 1.0;
                    if (x[i] == x[i] && weight > 0.0)
                        table.add_number(static_cast<double>(x[i]), y[row + i], weight);
                }
            }
        }
    }
}

// The cells of all rows.
template <class Total, class T>
CellTables<Total> count_cells(const Matrix<T>& matrix, const std::int32_t* y, const double* w,
                             int64_t k, int64_t cap) {
    const double per_row = 4.0 * static_cast<double>(matrix.columns);
    // Each thread's tables are merged: not worth it for fewer rows than cells.
    const int parts = static_cast<int>(std::min<int64_t>(count_parts(matrix.rows, per_row),
                                                         1 + matrix.rows / (4 * cap)));
    std::vector<CellTables<Total>> tables(
        parts, CellTables<Total>(matrix.columns, CellTable<Total>(cap, k)));
    run_parts(matrix.rows, parts, [&](int64_t begin, int64_t end, int part) {
        add_cell_rows(matrix, y, w, begin, end, tables[part]);
    });
    for (int64_t j = 0; j < matrix.columns; ++j) {
        for (int part = 1; part < parts; ++part) tables[0][j].merge_with(tables[part][j]);
        tables[0][j].finish();
    }
    return std::move(tables[0]);
}

// (shifts, first, keys, (high, low)).
template <class Total>
nb::object export_cells(const CellTables<Total>& tables, int64_t k) {
    const auto columns = static_cast<int64_t>(tables.size());
    const Result<int64_t> shifts("empty", columns), first("empty", columns + 1);
    std::vector<int64_t> keys;
    std::vector<Total> sums;
    first.data()[0] = 0;
    for (int64_t j = 0; j < columns; ++j) {
        const CellTable<Total>& table = tables[j];
        shifts.data()[j] = table.lost();
        first.data()[j + 1] = first.data()[j] + table.size();
        for (int64_t cell = 0; cell < table.size(); ++cell) {
            keys.push_back(table.key(cell));
            sums.insert(sums.end(), table.sums(cell), table.sums(cell) + k);
        }
    }
    return nb::make_tuple(shifts.object(), first.object(), copied<int64_t>(keys),
                          export_high_low(sums.data(), first.data()[columns], k));
}

nb::object tally_cells(nb::handle values, nb::handle y, nb::handle w, int64_t k, int64_t cap) {
    const DenseMatrix x(values, "values");
    if (cap < 4 || cap > std::numeric_limits<std::int32_t>::max() / 4)
        throw std::invalid_argument("a column must have room for four cells");
    const ClassIndices classes(y, x.rows(), k);
    const Weights weights(w, x.rows());
    const auto count_as = [&](auto zero) {
        using Total = decltype(zero);
        CellTables<Total> tables;
        {
            nb::gil_scoped_release released;
            x.visit([&](const auto& matrix) {
                tables = count_cells<Total>(matrix, classes.data(), weights.data(), k, cap);
            });
        }
        return export_cells(tables, k);
    };
    const Wholeness seen = look_at_weights(weights.data(), x.rows());
    return seen.sums_are_exact(x.rows()) ? count_as(double{}) : count_as(Sum{});
}

}  // namespace

void bind_tally_cells(nb::module_& m) {
    m.def("tally_cells", &tally_cells, nb::arg("values"), nb::arg("y"), nb::arg("w").none(),
          nb::arg("k"), nb::arg("cap"));
}

}  // namespace naively
