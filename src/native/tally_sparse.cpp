// Sums of CSR entries and counts of level codes, by class: scattered into a (columns, classes)
// table. Whole numbers are added plainly, which is exact below 2^53; when something else turns up,
// the counting starts again in double-double.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels.h"
#include "sparse.h"
#include "table_sums.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

// The number of cells of a table, before anything is allocated by it.
int64_t count_cells(int64_t rows, int64_t columns) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max() / 64;  // bytes of them fit as well
    if (rows < 0 || columns < 0) throw nb::value_error("a shape is negative");
    if (columns && rows > most / columns) throw nb::value_error("the table is too large");
    return rows * columns;
}

// Every thread needs a table of its own: not worth it unless there is more to count than to merge.
int count_table_parts(int64_t rows, int64_t additions, int64_t cells) {
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

// Count with count_into(table) and return the pair of arrays: (high, None) or (high, low).
template <class Cell, class CountInto>
nb::object make_pair(int64_t rows, int64_t columns, const CountInto& count_into) {
    if constexpr (std::is_same_v<Cell, double>) {
        Result<double> high("zeros", rows, columns);
        {
            nb::gil_scoped_release released;
            count_into(high.data());
        }
        return nb::make_tuple(high.object(), nb::none());
    } else {
        Result<double> high("empty", rows, columns), low("empty", rows, columns);
        {
            nb::gil_scoped_release released;
            std::vector<Sum> table(rows * columns);
            count_into(table.data());
            for (int64_t cell = 0; cell < rows * columns; ++cell)
                finish(table[cell], high.data()[cell], low.data()[cell]);
        }
        return nb::make_tuple(high.object(), low.object());
    }
}

template <bool weighted, class Cell, class Index, class Value>
NAIVELY_INLINE inline void add_entries(const Index* columns, const Value* values, int64_t count,
                                       int64_t prefetchable, int64_t k, double weight,
                                       Cell* of_class) {
    constexpr int64_t ahead = 16;
    for (int64_t e = 0; e < count; ++e) {
        if (e + ahead < prefetchable) {
            const auto cell =
                static_cast<std::uintptr_t>(columns[e + ahead]) * static_cast<std::uintptr_t>(k);
            __builtin_prefetch(
                reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(of_class) +
                                              cell * sizeof(Cell)),
                1);
        }
        auto value = static_cast<double>(values[e]);
        if (value != value) value = 0.0;
        if constexpr (weighted)
            add_product(of_class[columns[e] * k], value, weight);
        else
            add(of_class[columns[e] * k], value);
    }
}

// Rows of a CSR matrix into the table. A table of whole numbers is given up when something else
// turns up.
template <class Cell, class Index, class Value>
NAIVELY_INLINE inline void add_csr_rows(const int64_t* starts, int64_t prefetch_end,
                                        const Index* columns, const Value* values,
                                        const std::int32_t* y, const double* w, int64_t k,
                                        int64_t width, int64_t begin, int64_t end, Cell* table,
                                        Wholeness& seen) {
    for (int64_t first = begin; first < end; first += checked_rows) {
        const int64_t last = std::min(end, first + checked_rows);
        check_columns(columns + starts[first], starts[last] - starts[first], width);
        if constexpr (std::is_same_v<Cell, double>) {
            for (int64_t e = starts[first]; e < starts[last]; ++e)
                seen.look_at(static_cast<double>(values[e]));
            if (!seen.whole) return;
        }
        for (int64_t row = first; row < last; ++row) {
            const int64_t e = starts[row], count = starts[row + 1] - e;
            if (w)
                add_entries<true>(columns + e, values + e, count, prefetch_end - e, k, w[row],
                                  table + y[row]);
            else
                add_entries<false>(columns + e, values + e, count, prefetch_end - e, k, 1.0,
                                   table + y[row]);
        }
    }
}

}  // namespace

nb::object tally_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle y,
                     nb::handle w, int64_t k, int64_t width) {
    const CsrMatrix matrix(indptr, indices, data);
    const int64_t rows = matrix.rows(), cells = count_cells(width, k);
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const int parts = count_table_parts(rows, matrix.entries(), cells);
    const Wholeness weights_seen = look_at_weights(weights.data(), rows);
    Wholeness seen = weights_seen;
    const auto count_as = [&](auto zero) {
        using Cell = decltype(zero);
        const bool cached = cells * static_cast<int64_t>(sizeof(Cell)) <= cached_bytes;
        return make_pair<Cell>(width, k, [&](Cell* table) {
            std::vector<Wholeness> seen_by(parts);
            matrix.visit([&](auto* columns, auto* values) {
                const auto add_rows = [&](int64_t begin, int64_t end, Cell* to, int part) {
                    on_best_instruction_set([&](auto) NAIVELY_INLINE {
                        add_csr_rows(matrix.starts(), cached ? 0 : matrix.starts()[rows], columns,
                                     values, classes.data(), weights.data(), k, width, begin, end,
                                     to, seen_by[part]);
                    });
                };
                scatter(rows, parts, cells, table, add_rows);
            });
            for (const Wholeness& by : seen_by) seen.merge(by);
        });
    };
    if (seen.whole) {
        seen.largest = 0.0;
        const nb::object pair = count_as(double{});
        const double bound =
            seen.largest * weights_seen.largest * static_cast<double>(matrix.entries());
        if (seen.whole && bound <= exact_limit) return pair;
    }
    return count_as(Sum{});
}

namespace {

template <class Cell, class Code>
void add_code_rows(const CodeMatrix& matrix, const Code* codes, const std::int32_t* y,
                   const double* w, int64_t k, int64_t begin, int64_t end, Cell* table) {
    const int64_t* starts = matrix.starts();
    const auto add_cell = [&](int64_t row, int64_t j) NAIVELY_INLINE {
        const int64_t code = codes[row * matrix.row_stride() + j * matrix.column_stride()];
        if (code < 0) return;
        if (code >= starts[j + 1] - starts[j])
            throw std::invalid_argument("a level code is out of range");
        add(table[(starts[j] + code) * k + y[row]], w ? w[row] : 1.0);
    };
    for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < matrix.columns(); ++j) add_cell(row, j);
}

}  // namespace

nb::object tally_codes(nb::handle codes, nb::handle first, nb::handle y, nb::handle w, int64_t k) {
    const CodeMatrix matrix(codes, first);
    const int64_t rows = matrix.rows(), cells = count_cells(matrix.levels(), k);
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const Wholeness seen = look_at_weights(weights.data(), rows);
    const int parts = count_table_parts(rows, rows * matrix.columns(), cells);
    const auto count_as = [&](auto zero) {
        using Cell = decltype(zero);
        return make_pair<Cell>(matrix.levels(), k, [&](Cell* table) {
            matrix.visit([&](auto* code) {
                scatter(rows, parts, cells, table, [&](int64_t begin, int64_t end, Cell* to, int) {
                    add_code_rows(matrix, code, classes.data(), weights.data(), k, begin, end, to);
                });
            });
        });
    };
    const bool whole = seen.whole && seen.largest * static_cast<double>(rows) <= exact_limit;
    return whole ? count_as(double{}) : count_as(Sum{});
}

}  // namespace naively
