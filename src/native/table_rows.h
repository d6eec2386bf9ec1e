// The inner loop of sparse scoring: add rows of a (rows, classes) table, times values, to one row
// of joint log likelihoods that stays in registers. The table is used as it is, not padded: the
// last vector overlaps its neighbour.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "simd.h"

namespace naively {

// Which rows of the table, and how often each counts; values is null where each counts once.
template <class Index>
struct TableRows {
    const Index* rows;
    const double* values;
    std::int64_t count;
    std::int64_t prefetchable;  // rows[0 .. prefetchable) may be read, though not yet checked
};

template <class Isa, int lanes, int vectors, bool valued, class Index>
NAIVELY_INLINE inline void add_to_registers(const double* table, std::int64_t classes,
                                            const TableRows<Index>& from, std::int64_t first_class,
                                            std::int64_t last_vector, double* joint) {
    using V = Vector<double, lanes>;
    constexpr std::int64_t ahead = 16;
    constexpr int chains = vectors <= 4 ? 2 : 1;  // few sums wait less for one another in two
    V sums[chains][vectors] = {};
    const auto place = [&](int v) NAIVELY_INLINE {
        return v + 1 < vectors ? first_class + v * lanes : last_vector;
    };
    const auto prefetch = [&](std::int64_t row, std::int64_t cell) NAIVELY_INLINE {
        // Unsigned, as the row is not checked yet.
        const auto cells = static_cast<std::uintptr_t>(row) *
                               static_cast<std::uintptr_t>(classes) +
                           static_cast<std::uintptr_t>(cell);
        const auto address = reinterpret_cast<std::uintptr_t>(table) + sizeof(double) * cells;
        __builtin_prefetch(reinterpret_cast<const void*>(address));
    };
    const auto add = [&](std::int64_t e, V (&sum)[vectors]) NAIVELY_INLINE {
        if (e + ahead < from.prefetchable) {
            NAIVELY_UNROLL
            for (int v = 0; v < vectors; v += 8 / lanes) prefetch(from.rows[e + ahead], place(v));
            if (vectors * lanes > 2) prefetch(from.rows[e + ahead], last_vector + lanes - 1);
        }
        const double* row = table + from.rows[e] * classes;
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const V cells = load<lanes>(row + place(v));
            if constexpr (valued)
                sum[v] = multiply_add<Isa, lanes>(broadcast<lanes>(from.values[e]), cells, sum[v]);
            else
                sum[v] += cells;
        }
    };
    std::int64_t e = 0;
    for (; e + chains <= from.count; e += chains)
        NAIVELY_UNROLL
        for (int chain = 0; chain < chains; ++chain) add(e + chain, sums[chain]);
    for (; e < from.count; ++e) add(e, sums[0]);
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v)  // read before written: the last vector overlaps
        sums[0][v] += load<lanes>(joint + place(v)) + (chains > 1 ? sums[chains - 1][v] : V{});
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) store<lanes>(joint + place(v), sums[0][v]);
}

template <class Isa, bool valued, int lanes = Isa::lanes, class Index>
NAIVELY_INLINE inline void add_table_rows(const double* table, std::int64_t classes,
                                          const TableRows<Index>& from, double* joint) {
    if constexpr (lanes == 1) {
        for (std::int64_t e = 0; e < from.count; ++e)
            joint[0] += (valued ? from.values[e] : 1.0) * table[from.rows[e]];
    } else if (classes < lanes) {
        add_table_rows<Isa, valued, lanes / 2>(table, classes, from, joint);
    } else {
        std::int64_t first = 0;
        const std::int64_t last = classes - lanes;
        const auto add = [&](auto n) NAIVELY_INLINE {
            add_to_registers<Isa, lanes, n, valued>(table, classes, from, first, last, joint);
        };
        if constexpr (lanes < Isa::lanes) {  // there are fewer classes than two vectors have
            last ? add(std::integral_constant<int, 2>{}) : add(std::integral_constant<int, 1>{});
        } else {
            constexpr int most = 8;  // vectors in registers
            // What is left is a vector or more, so that the last overlaps only its own neighbour.
            for (; classes - first >= (most + 1) * lanes; first += most * lanes)
                add_to_registers<Isa, lanes, most, valued>(table, classes, from, first,
                                                           first + (most - 1) * lanes, joint);
            switch ((classes - first + lanes - 1) / lanes) {
                case 1: return add(std::integral_constant<int, 1>{});
                case 2: return add(std::integral_constant<int, 2>{});
                case 3: return add(std::integral_constant<int, 3>{});
                case 4: return add(std::integral_constant<int, 4>{});
                case 5: return add(std::integral_constant<int, 5>{});
                case 6: return add(std::integral_constant<int, 6>{});
                case 7: return add(std::integral_constant<int, 7>{});
                case 8: return add(std::integral_constant<int, 8>{});
                default: return add(std::integral_constant<int, 9>{});
            }
        }
    }
}

}  // namespace naively
