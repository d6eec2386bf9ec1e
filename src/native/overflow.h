// Sums that overflow: what kernels/reference.py says of FAR and MOST.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "simd.h"

namespace naively {

constexpr double FAR = 1e140;
constexpr double MOST = 1e290;

// x·slope, both clipped; an infinite slope is not.
NAIVELY_INLINE inline double clipped_product(double x, double slope) {
    const double product = std::clamp(x, -FAR, FAR) * slope;
    return std::isinf(slope) ? product : std::clamp(product, -MOST, MOST);
}

// Whether a sum is NaN, or is beyond MOST and did not start as an infinity. x - x is 0 if x is
// finite, and else NaN.
NAIVELY_INLINE inline bool overflown(const double* sums, const double* start,
                                     std::int64_t classes) {
    bool found = false;
    for (std::int64_t c = 0; c < classes; ++c)
        found |= (!(std::fabs(sums[c]) <= MOST) & (start[c] - start[c] == 0.0)) |
                 (sums[c] != sums[c]);
    return found;
}

}  // namespace naively
