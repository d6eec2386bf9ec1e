// Rows scored one by one, each from where it starts, and finished a few at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scores.h"
#include "simd.h"

namespace naively {

// Score every row and finish: prepare(first, rows) is called for a few rows at a time, then
// score_row(row, joint) for each of them.
template <class Prepare, class ScoreRow>
NAIVELY_INLINE inline void score_rows(const Scores& scores, int64_t begin, int64_t end,
                                      const Prepare& prepare, const ScoreRow& score_row) {
    const int64_t k = scores.classes();
    Finisher finisher(scores.output(), end - begin);
    for (int64_t first = begin; first < end; first += Finisher::max_rows) {
        const int64_t rows = std::min(Finisher::max_rows, end - first);
        double* joint = finisher.rows_at(first);
        prepare(first, rows);
        scores.copy_starts(first, rows, joint);
        for (int64_t i = 0; i < rows; ++i) score_row(first + i, joint + i * k);
        finisher.finish(first, rows);
    }
}

}  // namespace naively
