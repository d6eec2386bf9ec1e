// Sums that are scattered into tables: whole numbers are added plainly, which is exact below 2^53,
// anything else in double-double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "double_double.h"

namespace naively {

// A cell of the table of whole numbers is a double; else it is a double-double.
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
inline void merge(double& cell, double other) { cell += other; }
inline void merge(Sum& cell, const Sum& other) { add_pair(cell.high, cell.low, other.high, other.low); }

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
};

inline Wholeness look_at_weights(const double* w, std::int64_t rows) {
    Wholeness seen{true, w ? 0.0 : 1.0};
    if (w)
        for (std::int64_t i = 0; i < rows; ++i) seen.look_at(w[i]);
    return seen;
}

}  // namespace naively
