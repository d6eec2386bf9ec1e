// Rows scattered into a (columns, classes) table of sums: tally_csr and tally_codes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "table_sums.h"
#include "threads.h"

namespace naively {

// The number of cells of a table, before anything is allocated by it.
inline int64_t count_cells(int64_t rows, int64_t columns) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max() / 64;  // bytes of them fit as well
    if (rows < 0 || columns < 0) throw std::invalid_argument("a shape is negative");
    if (columns && rows > most / columns) throw std::invalid_argument("the table is too large");
    return rows * columns;
}

// Every thread needs a table of its own: not worth it unless there is more to count than to merge.
inline int count_table_parts(int64_t rows, int64_t additions, int64_t cells) {
    const double per_row =
        static_cast<double>(additions) / static_cast<double>(std::max<int64_t>(1, rows));
    const int worth = static_cast<int>(1 + std::min<int64_t>(additions / (4 * cells + 1), 1 << 20));
    return std::min(count_parts(rows, 2.0 * per_row), worth);
}

// Fill `table`, which is all zero, with what add_rows(begin, end, table, part) finds in its rows.
template <class Cell, class AddRows>
void scatter(int64_t rows, int parts, int64_t cells, Cell* table, const AddRows& add_rows) {
    std::vector<std::vector<Cell>> others(parts - 1);
    run_parts(rows, parts, [&](int64_t begin, int64_t end, int part) {
        if (part > 0) others[part - 1].resize(cells);
        add_rows(begin, end, part > 0 ? others[part - 1].data() : table, part);
    });
    for (const std::vector<Cell>& other : others)
        for (int64_t cell = 0; cell < cells; ++cell) merge(table[cell], other[cell]);
}

// Count with count_into(table) and return the pair of arrays (high, low). Exact sums are counted
// where they are returned.
template <class Cell, class CountInto>
nb::object tally_into_table(int64_t rows, int64_t columns, const CountInto& count_into) {
    if constexpr (std::is_same_v<Cell, double>) {
        const Result<double> high("zeros", rows, columns);
        {
            nb::gil_scoped_release released;
            count_into(high.data());
        }
        return nb::make_tuple(high.object(), nb::none());
    } else {
        std::vector<Cell> table;
        {
            nb::gil_scoped_release released;
            table.resize(rows * columns);
            count_into(table.data());
        }
        return export_high_low(table.data(), rows, columns);
    }
}

}  // namespace naively
