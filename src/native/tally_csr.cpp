// tally_csr of kernels/reference.py: sums of the entries of a CSR matrix, by column and class.
//
// Whole numbers are added plainly, which is exact below 2^53; when something else turns up, the
// counting starts again in double-double.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "csr_matrix.h"
#include "scatter.h"
#include "simd.h"
#include "tally_rows.h"

namespace naively {
namespace {

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
        return tally_into_table<Cell>(width, k, [&](Cell* table) {
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
        seen.largest *= weights_seen.largest;
        if (seen.sums_are_exact(matrix.entries())) return pair;
    }
    return count_as(Sum{});
}

}  // namespace

void bind_tally_csr(nb::module_& m) {
    m.def("tally_csr", &tally_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("y"), nb::arg("w").none(), nb::arg("k"), nb::arg("width"));
}

}  // namespace naively
