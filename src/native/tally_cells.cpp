// tally_cells of kernels/reference.py: counts of numbers by cell and class.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "cell_table.h"
#include "cell_windows.h"
#include "dense.h"
#include "simd.h"
#include "table_sums.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

template <class Total>
using CellTables = std::vector<CellTable<Total>>;  // of each column

// Adds the numbers of one column to its table, a few rows at a time. Cells that the column had when
// it was last looked at are found without hashing.
template <class Total>
class CellCounter {
  public:
    static constexpr int64_t max_rows = 1024;

    CellCounter() : places_(max_rows) {}

    NAIVELY_INLINE inline void add_rows(const double* x, const std::int32_t* y, const double* w,
                                        int64_t rows, int64_t classes, CellTable<Total>& table) {
        windows_.find_places(x, rows, places_.data());
        w ? add_found<true>(x, y, w, rows, classes, table)
          : add_found<false>(x, y, w, rows, classes, table);
        if (missed_ < patience_) return;
        missed_ = 0;
        patience_ = windows_.find_all(table.keys(), table.lost()) ? usual_patience : 2 * patience_;
    }

  private:
    static constexpr int64_t usual_patience = 64;

    CellWindows windows_;
    std::vector<std::int32_t> places_;
    int64_t missed_ = 0;                  // numbers since the table was looked at
    int64_t patience_ = usual_patience;  // how many are missed before it is looked at again

    template <bool weighted>
    NAIVELY_INLINE inline void add_found(const double* x, const std::int32_t* y, const double* w,
                                         int64_t rows, int64_t classes, CellTable<Total>& table) {
        const std::int32_t* cells = windows_.cells();
        const int64_t lost = table.lost();
        Total* sums = table.sums();
        bool others = false;  // whether the table's cells are others than before these rows
        for (int64_t i = 0; i < rows; ++i) {
            const double weight = weighted ? w[i] : 1.0;
            const bool counts = (x[i] == x[i]) & (weight > 0.0);
            const std::int32_t cell = others ? CellWindows::unknown : cells[places_[i]];
            if (cell >= 0) {  // what does not count adds 0: nobody foresees a branch
                add(sums[cell * classes + y[i]], counts ? weight : 0.0);
            } else if (counts) {
                table.add_number(x[i], y[i], weight);
                sums = table.sums();
                others = table.lost() != lost;
                ++missed_;
            }
        }
        if (others) windows_.forget();
    }
};

// Adds some rows of a few columns to a table of each.
template <class Total>
void add_cell_rows(const DenseMatrix& matrix, const std::int32_t* y, const double* w, int64_t begin,
                   int64_t end, int64_t column, CellTables<Total>& tables, int64_t k) {
    const auto columns = static_cast<int64_t>(tables.size());
    ColumnPanel panel(matrix, std::min(ColumnPanel::max_rows, end - begin));
    std::vector<CellCounter<Total>> counters(columns);
    for (int64_t row = begin; row < end; row += panel.max_rows) {
        const int64_t rows = std::min(panel.max_rows, end - row);
        panel.visit(row, rows, column, column + columns, [&](int64_t j, const double* x) {
            on_best_instruction_set([&, j = j - column](auto) NAIVELY_INLINE {
                counters[j].add_rows(x, y + row, w ? w + row : nullptr, rows, k, tables[j]);
            });
        });
    }
}

// The cells of all columns, one after the other, and where those of each begin.
template <class Total>
struct Cells {
    std::vector<int64_t> shifts, first{0}, keys;
    std::vector<Total> sums;
};

// A few columns are counted at a time, so that their tables stay in the cache.
template <class Total>
void count_cells(const DenseMatrix& matrix, const std::int32_t* y, const double* w, int64_t k,
                 int64_t cap, Cells<Total>& cells) {
    const nb::gil_scoped_release released;
    constexpr int64_t most = ColumnPanel::max_columns;
    cells.keys.reserve(matrix.columns() * std::min(matrix.rows(), cap));
    cells.sums.reserve(matrix.columns() * std::min(matrix.rows(), cap) * k);
    // Each thread's tables are merged: not worth it for fewer rows than cells.
    const int parts = static_cast<int>(std::min<int64_t>(count_parts(matrix.rows(), 4.0 * most),
                                                         1 + matrix.rows() / (4 * cap)));
    for (int64_t column = 0; column < matrix.columns(); column += most) {
        const int64_t columns = std::min(most, matrix.columns() - column);
        std::vector<CellTables<Total>> tables(
            parts, CellTables<Total>(columns, CellTable<Total>(cap, k)));
        run_parts(matrix.rows(), parts, [&](int64_t begin, int64_t end, int part) {
            add_cell_rows(matrix, y, w, begin, end, column, tables[part], k);
        });
        for (int64_t j = 0; j < columns; ++j) {
            CellTable<Total>& table = tables[0][j];
            for (int part = 1; part < parts; ++part) table.merge_with(tables[part][j]);
            table.finish();
            cells.shifts.push_back(table.lost());
            cells.first.push_back(cells.first.back() + table.size());
            cells.keys.insert(cells.keys.end(), table.keys().begin(), table.keys().end());
            cells.sums.insert(cells.sums.end(), table.sums(), table.sums() + table.size() * k);
        }
    }
}

nb::object tally_cells(nb::handle values, nb::handle y, nb::handle w, int64_t k, int64_t cap) {
    const DenseMatrix x(values, "values");
    if (cap < 4 || cap > std::numeric_limits<std::int32_t>::max() / 4)
        throw std::invalid_argument("a column must have room for four cells");
    const ClassIndices classes(y, x.rows(), k);
    const Weights weights(w, x.rows());
    const auto count_as = [&](auto zero) {
        using Total = decltype(zero);
        Cells<Total> cells;
        count_cells(x, classes.data(), weights.data(), k, cap, cells);
        return nb::make_tuple(copied<int64_t>(cells.shifts), copied<int64_t>(cells.first),
                              copied<int64_t>(cells.keys),
                              export_high_low(cells.sums.data(), cells.first.back(), k));
    };
    const Wholeness seen = look_at_weights(weights.data(), x.rows());
    if (weights.data() == nullptr && x.rows() <= std::numeric_limits<std::uint32_t>::max())
        return count_as(std::uint32_t{});  // small, so that more of it stays in the cache
    return seen.sums_are_exact(x.rows()) ? count_as(double{}) : count_as(Sum{});
}

}  // namespace

void bind_tally_cells(nb::module_& m) {
    m.def("tally_cells", &tally_cells, nb::arg("values"), nb::arg("y"), nb::arg("w").none(),
          nb::arg("k"), nb::arg("cap"));
}

}  // namespace naively
