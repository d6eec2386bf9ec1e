// Sums that overflow: numbers, and what they add, are held where kernels/reference.py says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "simd.h"

namespace naively {

constexpr double far_out = 1e140;     // FAR
constexpr double most_added = 1e290;  // MOST

// What x adds times a slope; an infinite slope is not held.
NAIVELY_INLINE inline double held_product(double x, double slope) {
    const double product = std::clamp(x, -far_out, far_out) * slope;
    return std::isinf(slope) ? product : std::clamp(product, -most_added, most_added);
}

// Whether a sum is past what is held, or NaN, that did not start as an infinity. x - x is 0 of
// finite numbers, and else NaN.
NAIVELY_INLINE inline bool overflown(const double* sums, const double* start,
                                     std::int64_t classes) {
    bool found = false;
    for (std::int64_t c = 0; c < classes; ++c)
        found |= !(std::fabs(sums[c]) <= most_added) & (start[c] - start[c] == 0.0);
    return found;
}

}  // namespace naively
