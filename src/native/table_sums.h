// Sums that are scattered into tables: whole numbers are added plainly, which is exact below 2^53,
// anything else in double-double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "arrays.h"
#include "double_double.h"

namespace naively {

// A double-double sum. Where every sum is exact, a cell of a table is a double (or a whole number).
struct Sum {
    double high, low;
};

NAIVELY_INLINE inline void add(double& cell, double value) { cell += value; }
NAIVELY_INLINE inline void add_product(double& cell, double value, double weight) {
    cell += value * weight;
}
NAIVELY_INLINE inline void add(Sum& cell, double value) { add_to_sum(cell.high, cell.low, value); }
NAIVELY_INLINE inline void add_product(Sum& cell, double value, double weight) {
    const double product = value * weight;
    add(cell, product);
    cell.low += __builtin_fma(value, weight, -product);
}
NAIVELY_INLINE inline void add(std::uint32_t& cell, double value) {
    cell += static_cast<std::uint32_t>(value);
}
inline void merge(double& cell, double other) { cell += other; }
inline void merge(std::uint32_t& cell, std::uint32_t other) { cell += other; }
inline void merge(Sum& cell, const Sum& other) {
    add_pair(cell.high, cell.low, other.high, other.low);
}

// Split a sum into its rounded value and what the rounding left.
inline void finish(const Sum& sum, double& high, double& low) {
    high = sum.high + sum.low;
    low = sum.low - (high - sum.high);
}

constexpr double exact_limit = 0x1p53;

// Whether all are whole, and how large they get.
struct Wholeness {
    bool whole = true;
    double largest = 0.0;

    NAIVELY_INLINE inline void look_at(double value) {
        if (value != value) value = 0.0;  // not counted
        whole &= value == std::rint(value);
        const double size = std::fabs(value);
        largest = largest < size ? size : largest;
    }
    void merge(const Wholeness& other) {
        whole &= other.whole;
        largest = std::max(largest, other.largest);
    }
    // Whether so many of them can be summed in float64 without rounding.
    bool sums_are_exact(int64_t terms) const {
        return whole && largest * static_cast<double>(terms) <= exact_limit;
    }
};

inline Wholeness look_at_weights(const double* w, int64_t rows) {
    Wholeness seen{true, w ? 0.0 : 1.0};
    if (w)
        for (int64_t i = 0; i < rows; ++i) seen.look_at(w[i]);
    return seen;
}

// The pair of arrays (high, low) of a table of sums, row by row; low is None where sums are exact.
template <class Cell>
nb::object export_high_low(const Cell* sums, int64_t rows, int64_t columns) {
    const Result<double> high("empty", rows, columns);
    if constexpr (std::is_same_v<Cell, Sum>) {
        const Result<double> low("empty", rows, columns);
        for (int64_t cell = 0; cell < rows * columns; ++cell)
            finish(sums[cell], high.data()[cell], low.data()[cell]);
        return nb::make_tuple(high.object(), low.object());
    } else {
        for (int64_t cell = 0; cell < rows * columns; ++cell)
            high.data()[cell] = static_cast<double>(sums[cell]);
        return nb::make_tuple(high.object(), nb::none());
    }
}

}  // namespace naively
