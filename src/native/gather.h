// The inner loop of sparse scoring: add rows of a (rows, classes) table, times values, to one row
// of joint log likelihoods that stays in registers. The table is used as it is, not padded: the
// last vector overlaps its neighbour.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd.h"

namespace naively {

// Which rows of the table, how often; values is null where each counts once.
template <class Index>
struct TableRows {
    const Index* rows;
    const double* values;
    std::int64_t count;
    std::int64_t known;  // rows[0 .. known) may be read, for prefetching; unchecked beyond count
};

template <class Isa, int lanes, int vectors, bool valued, class Index>
NAIVELY_INLINE inline void add_to_registers(const double* table, std::int64_t classes,
                                            const TableRows<Index>& from, std::int64_t first_class,
                                            std::int64_t last_vector, double* joint) {
    using V = Vector<double, lanes>;
    constexpr std::int64_t ahead = 12;
    V sums[vectors];
    const auto place = [&](int v) NAIVELY_INLINE {
        return v + 1 < vectors ? first_class + v * lanes : last_vector;
    };
    for (int v = 0; v < vectors; ++v) sums[v] = load<lanes>(joint + place(v));
    for (std::int64_t e = 0; e < from.count; ++e) {
        if (e + ahead < from.known) {
            const auto later = reinterpret_cast<std::uintptr_t>(table) +
                               static_cast<std::uintptr_t>(from.rows[e + ahead]) *
                                   static_cast<std::uintptr_t>(classes) * sizeof(double);
            for (int v = 0; v < vectors; v += 8 / lanes)
                __builtin_prefetch(reinterpret_cast<const void*>(later + place(v) * sizeof(double)));
            __builtin_prefetch(
                reinterpret_cast<const void*>(later + (last_vector + lanes) * sizeof(double) - 1));
        }
        const double* row = table + from.rows[e] * classes;
        for (int v = 0; v < vectors; ++v) {
            const V cells = load<lanes>(row + place(v));
            if constexpr (valued)
                sums[v] = multiply_add<Isa, lanes>(broadcast<lanes>(from.values[e]), cells, sums[v]);
            else
                sums[v] += cells;
        }
    }
    for (int v = 0; v < vectors; ++v) store<lanes>(joint + place(v), sums[v]);
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
        constexpr int most = 8;  // vectors in registers
        std::int64_t first = 0;
        for (; classes - first > most * lanes; first += most * lanes)
            add_to_registers<Isa, lanes, most, valued>(table, classes, from, first,
                                                       first + (most - 1) * lanes, joint);
        const std::int64_t last = classes - lanes;
        switch ((classes - first + lanes - 1) / lanes) {
            case 1: return add_to_registers<Isa, lanes, 1, valued>(table, classes, from, first, last, joint);
            case 2: return add_to_registers<Isa, lanes, 2, valued>(table, classes, from, first, last, joint);
            case 3: return add_to_registers<Isa, lanes, 3, valued>(table, classes, from, first, last, joint);
            case 4: return add_to_registers<Isa, lanes, 4, valued>(table, classes, from, first, last, joint);
            case 5: return add_to_registers<Isa, lanes, 5, valued>(table, classes, from, first, last, joint);
            case 6: return add_to_registers<Isa, lanes, 6, valued>(table, classes, from, first, last, joint);
            case 7: return add_to_registers<Isa, lanes, 7, valued>(table, classes, from, first, last, joint);
            default: return add_to_registers<Isa, lanes, 8, valued>(table, classes, from, first, last, joint);
        }
    }
}

}  // namespace naively
