// Vocabulary.score of kernels/vocabulary.py. It needs no GIL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "scores.h"
#include "seen_tokens.h"
#include "text_source.h"
#include "threads.h"
#include "token_table.h"
#include "tokens.h"

namespace naively {

// Scores the texts [begin, end): row i of slope, (tokens, classes), for each time token i is there.
inline void score_part(const TokenTable& table, const TextSource& texts, const double* slope,
                       const Scores& scores, bool presence, int64_t begin, int64_t end) {
    const size_t k = static_cast<size_t>(scores.classes());
    Finisher finisher(scores.output(), end - begin);
    TokenBuffers buffers;
    SeenTokens seen;
    const auto soon = [&](uint32_t number) { __builtin_prefetch(slope + number * k); };
    for (int64_t first = begin; first < end; first += Finisher::max_rows) {
        const int64_t rows = std::min(end - first, Finisher::max_rows);
        double* joint = finisher.rows_at(first);
        for (int64_t row = first; row < first + rows; ++row, joint += k) {
            std::copy_n(scores.start(row), k, joint);
            seen.next_text();
            const auto add = [&](uint32_t number) {
                if (presence && !seen.insert(number)) return;
                const double* of_token = slope + number * k;
                for (size_t c = 0; c < k; ++c) joint[c] += of_token[c];
            };
            visit_tokens(table, texts[static_cast<size_t>(row)], buffers, soon, add);
        }
        finisher.finish(first, rows);
    }
}

inline void score_texts(const TokenTable& table, const TextSource& texts, const double* slope,
                        const Scores& scores, bool presence) {
    constexpr double operations_per_character = 8;
    const double operations = operations_per_character * static_cast<double>(texts.characters());
    const int parts = count_parts(
        scores.rows(), operations / std::max(static_cast<double>(scores.rows()), 1.0));
    run_parts(scores.rows(), parts, [&](int64_t begin, int64_t end, int) {
        score_part(table, texts, slope, scores, presence, begin, end);
    });
}

}  // namespace naively
