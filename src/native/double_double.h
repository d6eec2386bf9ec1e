// Double-double sums: a number is an unevaluated pair high + low. Error-free transformations of
// Knuth and Dekker, for doubles and for vectors of doubles alike, as in kernels/double_double.py.
#pragma once

#include "simd.h"

namespace naively {

// Add x to a running sum: the rounding errors are kept apart in low. Two lows may be added plainly,
// as their own rounding is 2^-106 of the sum.
template <class Number>
NAIVELY_INLINE inline void add_to_sum(Number& high, Number& low, const Number& x) {
    const Number sum = high + x;
    const Number x_part = sum - high;
    low += (high - (sum - x_part)) + (x - x_part);
    high = sum;
}

// Add the pair (x_high, x_low) and make low small against high again.
template <class Number>
NAIVELY_INLINE inline void add_pair(Number& high, Number& low, const Number& x_high,
                                    const Number& x_low) {
    Number low_error{};
    add_to_sum(high, low_error, x_high);
    Number low_low{};
    add_to_sum(low, low_low, x_low);
    Number small = low_error + low;
    Number sum = high + small;
    small -= sum - high;
    small += low_low;
    high = sum + small;
    low = small - (high - sum);
}

}  // namespace naively
