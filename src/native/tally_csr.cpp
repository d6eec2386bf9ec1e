// tally_csr of kernels/reference.py: sums of the entries of a CSR matrix, by column and class.
//
// Whole numbers are added plainly, which is exact below 2^53; when something else turns up, the
// counting starts again in double-double. A table that fits the cache is counted into as the rows
// come. Of small numbers one of bytes (byte_counts.h) may fit; else the rows of a class come together
// (class_sums.h), as the sums of one class may.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "byte_counts.h"
#include "class_sums.h"
#include "csr_matrix.h"
#include "scatter.h"
#include "simd.h"
#include "tally_rows.h"

namespace naively {
namespace {

// What is counted. If the matrix is to be complete, a value that is NaN or infinite is an error.
template <class Value>
struct Entries {
    const int64_t* starts;
    const int32_t* columns;
    const Value* values;
    const std::int32_t* y;
    const double* w;
    int64_t rows, k, width;
    bool complete;
};

// Look at values before they are added: are all whole, and how large?
template <class Isa, class Value>
NAIVELY_INLINE inline void look_at_values(const Value* values, int64_t count, Wholeness& seen) {
    constexpr int lanes = Isa::lanes;
    using V = Vector<double, lanes>;
    const V zero{}, rounder = broadcast<lanes>(0x1.8p52);  // adding it rounds to a whole number
    V largest = zero;
    auto whole = zero == zero;
    int64_t e = 0;
    for (; e + lanes <= count; e += lanes) {
        V x = load<lanes>(values + e);
        x = x == x ? x : zero;
        whole &= (x + rounder) - rounder == x;
        const V size = x < zero ? -x : x;
        largest = largest < size ? size : largest;
    }
    for (; e < count; ++e) seen.look_at(static_cast<double>(values[e]));
    for (int lane = 0; lane < lanes; ++lane) {
        seen.whole &= whole[lane] != 0;
        seen.largest = std::max(seen.largest, largest[lane]);
    }
}

// Check rows that are neighbours before they are counted; false if a table of whole numbers is to
// be given up.
template <class Isa, class Cell, class Value>
NAIVELY_INLINE inline bool look_at_rows(const Entries<Value>& from, int64_t begin, int64_t end,
                                        Wholeness& seen) {
    const int64_t e = from.starts[begin], count = from.starts[end] - e;
    check_columns(from.columns + e, count, from.width);
    if (from.complete) check_values<Isa>(from.values + e, count);
    if constexpr (std::is_same_v<Cell, Sum>) return true;
    look_at_values<Isa>(from.values + e, count, seen);
    return seen.whole;
}

// Prefetch the cell of a column, which is not checked yet.
template <class Cell>
NAIVELY_INLINE inline void prefetch_cell(const Cell* of_class, int64_t column, int64_t stride) {
    const auto cell = static_cast<std::uintptr_t>(column) * static_cast<std::uintptr_t>(stride);
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(of_class) +
                                      cell * sizeof(Cell)),
        1);
}

constexpr int64_t ahead = 16;  // entries, whose cells are prefetched

// Add the entries of a row to the sums of its class, which lie `stride` apart.
template <bool weighted, class Cell, class Value>
NAIVELY_INLINE inline void add_entries(const int32_t* columns, const Value* values,
                                       int64_t count, int64_t prefetchable, int64_t stride,
                                       double weight, Cell* of_class) {
    for (int64_t e = 0; e < count; ++e) {
        if (e + ahead < prefetchable) prefetch_cell(of_class, columns[e + ahead], stride);
        auto value = static_cast<double>(values[e]);
        if (value != value) value = 0.0;
        if constexpr (weighted)
            add_product(of_class[columns[e] * stride], value, weight);
        else
            add(of_class[columns[e] * stride], value);
    }
}

template <class Cell, class Value>
NAIVELY_INLINE inline void add_row(const Entries<Value>& from, int64_t row, int64_t prefetch_end,
                                   int64_t stride, Cell* of_class) {
    const int64_t e = from.starts[row], count = from.starts[row + 1] - e;
    if (from.w)
        add_entries<true>(from.columns + e, from.values + e, count, prefetch_end - e, stride,
                          from.w[row], of_class);
    else
        add_entries<false>(from.columns + e, from.values + e, count, prefetch_end - e, stride, 1.0,
                           of_class);
}

// Rows as they come, into a table of (columns, classes).
template <class Isa, class Cell, class Value>
NAIVELY_INLINE inline void add_rows(const Entries<Value>& from, int64_t begin, int64_t end,
                                    Cell* table, Wholeness& seen) {
    const bool cached = from.width * from.k * static_cast<int64_t>(sizeof(Cell)) <= cached_bytes;
    const int64_t prefetch_end = cached ? 0 : from.starts[from.rows];
    for (int64_t first = begin; first < end; first += checked_rows) {
        const int64_t last = std::min(end, first + checked_rows);
        if (!look_at_rows<Isa, Cell>(from, first, last, seen)) return;
        for (int64_t row = first; row < last; ++row)
            add_row(from, row, prefetch_end, from.k, table + from.y[row]);
    }
}

// Rows of one class, by their numbers, into its sums. They lie apart: the next one is prefetched.
template <class Isa, class Cell, class Value>
NAIVELY_INLINE inline bool add_rows_of_class(const Entries<Value>& from, const std::int32_t* rows,
                                             int64_t count, Cell* sums, Wholeness& seen) {
    constexpr int64_t later = 16, soon = 4, line = 64;
    const bool cached = from.width * static_cast<int64_t>(sizeof(Cell)) <= 4 * cached_bytes;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t row = rows[i];
        if (i + later < count) __builtin_prefetch(from.starts + rows[i + later]);
        if (i + soon < count) {
            const int64_t e = from.starts[rows[i + soon]], end = from.starts[rows[i + soon] + 1];
            const auto* columns = reinterpret_cast<const char*>(from.columns + e);
            const auto* columns_end = reinterpret_cast<const char*>(from.columns + end);
            for (; columns < columns_end; columns += line) __builtin_prefetch(columns);
            const auto* values = reinterpret_cast<const char*>(from.values + e);
            const auto* values_end = reinterpret_cast<const char*>(from.values + end);
            for (; values < values_end; values += line) __builtin_prefetch(values);
        }
        if (!look_at_rows<Isa, Cell>(from, row, row + 1, seen)) return false;
        add_row(from, row, cached ? 0 : from.starts[row + 1], 1, sums);
    }
    return true;
}

// Rows as they come, into a table of bytes of (columns, classes); false if larger cells are wanted.
template <class Isa, class Value>
NAIVELY_INLINE inline bool add_small_numbers(const Entries<Value>& from, int64_t begin, int64_t end,
                                             ByteCounts& counts) {
    const int64_t prefetch_end = from.starts[from.rows] - ahead, k = from.k;
    const int32_t* const columns = from.columns;
    const Value* const values = from.values;
    for (int64_t first = begin; first < end; first += checked_rows) {
        const int64_t last = std::min(end, first + checked_rows);
        const int64_t entry = from.starts[first], count = from.starts[last] - entry;
        check_columns(columns + entry, count, from.width);
        if (!are_small<Isa>(values + entry, count)) return false;
        for (int64_t row = first; row < last; ++row) {
            std::uint8_t* const of_class = counts.bytes() + from.y[row];
            const int64_t row_end = from.starts[row + 1];
            for (int64_t e = from.starts[row]; e < row_end; ++e) {
                if (e < prefetch_end) prefetch_cell(of_class, columns[e + ahead], k);
                counts.add(of_class + columns[e] * k, static_cast<unsigned>(values[e]));
            }
        }
        if (counts.are_too_small(from.starts[last] - from.starts[begin])) return false;
    }
    return true;
}

// Count small whole numbers into the table, which is left as it is if bytes do not do: then false.
template <class Value>
bool count_small_numbers(const Entries<Value>& from, double* table) {
    const int64_t cells = from.width * from.k;
    const int64_t entries = from.starts[from.rows] - from.starts[0];
    std::vector<ByteCounts> counts;
    const int parts = count_table_parts(from.rows, entries, cells / 8);
    for (int part = 0; part < parts; ++part) counts.emplace_back(cells);
    std::vector<char> fit(parts, true);
    run_parts(from.rows, parts, [&](int64_t begin, int64_t end, int part) {
        on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
            fit[part] = add_small_numbers<decltype(isa)>(from, begin, end, counts[part]);
        });
    });
    if (std::find(fit.begin(), fit.end(), false) != fit.end()) return false;
    for (const ByteCounts& of_part : counts) of_part.add_to(table);
    return true;
}

template <class Cell, class Value>
void count_entries(const Entries<Value>& from, int parts, Cell* table, Wholeness& seen) {
    std::vector<Wholeness> seen_by(parts, seen);
    const int64_t cells = from.width * from.k;
    const int64_t entries = from.starts[from.rows] - from.starts[0];
    if constexpr (std::is_same_v<Cell, double>) {
        if (!from.w && ClassSums<Cell>::pay(from.rows, from.k, cells, entries) &&
            count_small_numbers(from, table)) {
            seen.largest = ByteCounts::largest;
            return;
        }
    }
    if (ClassSums<Cell>::pay(from.rows, from.k, cells, entries)) {
        ClassSums<Cell> sums(from.y, from.starts, from.rows, from.k, from.width, parts);
        sums.count([&](const std::int32_t* rows, int64_t count, Cell* of_class, int part) {
            bool going_on = true;
            on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                going_on = add_rows_of_class<decltype(isa)>(from, rows, count, of_class,
                                                            seen_by[part]);
            });
            return going_on;
        });
        for (const Wholeness& by : seen_by) seen.merge(by);
        if (seen.whole || !std::is_same_v<Cell, double>) sums.write(table);
        return;
    }
    scatter(from.rows, count_table_parts(from.rows, entries, cells), cells, table,
            [&](int64_t begin, int64_t end, Cell* to, int part) {
                on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                    add_rows<decltype(isa)>(from, begin, end, to, seen_by[part]);
                });
            });
    for (const Wholeness& by : seen_by) seen.merge(by);
}

nb::object tally_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle y,
                     nb::handle w, int64_t k, int64_t width, bool complete) {
    const CsrMatrix matrix(indptr, indices, data);
    const int64_t rows = matrix.rows(), entries = matrix.entries();
    count_cells(width, k);
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const int parts = count_parts(
        rows, 2.0 * static_cast<double>(entries) / static_cast<double>(std::max<int64_t>(1, rows)));
    const Wholeness weights_seen = look_at_weights(weights.data(), rows);
    Wholeness seen = weights_seen;
    const auto count_as = [&](auto zero) {
        using Cell = decltype(zero);
        return tally_into_table<Cell>(width, k, [&](Cell* table) {
            matrix.visit([&](auto* values) {
                using Value = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
                const Entries<Value> from{matrix.starts(), matrix.columns(), values, classes.data(),
                                          weights.data(), rows, k, width, complete};
                count_entries(from, parts, table, seen);
            });
        });
    };
    if (seen.whole) {
        seen.largest = 0.0;
        const nb::object pair = count_as(double{});
        seen.largest *= weights_seen.largest;
        if (seen.sums_are_exact(entries)) return pair;
    }
    return count_as(Sum{});
}

}  // namespace

void bind_tally_csr(nb::module_& m) {
    m.def("tally_csr", &tally_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("y"), nb::arg("w").none(), nb::arg("k"), nb::arg("width"),
          nb::arg("complete") = false);
}

}  // namespace naively
