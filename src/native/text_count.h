// Vocabulary.count of kernels/vocabulary.py. It needs no GIL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "large_pages.h"
#include "seen_tokens.h"
#include "table_sums.h"
#include "text_source.h"
#include "token_table.h"
#include "tokens.h"

namespace naively {

// Returns a table of shape (tokens, classes), row by row; new tokens are added. Where cells are whole
// numbers, each row weighs one, and w may be null.
template <class Cell>
LargeVector<Cell> count_texts(TokenTable& table, const TextSource& texts, const std::int32_t* y,
                              const double* w, size_t k, bool presence) {
    LargeVector<Cell> cells(table.size() * k);
    TokenBuffers buffers;
    SeenTokens seen;
    for (size_t row = 0; row < texts.size(); ++row) {
        const size_t c = static_cast<size_t>(y[row]);
        const auto soon = [&](uint32_t number) {
            const size_t cell = number * k + c;
            if (cell < cells.size()) __builtin_prefetch(&cells[cell], 1);
        };
        const auto count = [&](uint32_t number) {
            const size_t cell = number * k + c;
            if (cell >= cells.size()) cells.resize(std::max(2 * cells.size(), (number + 1) * k));
            if constexpr (std::is_integral_v<Cell>)
                ++cells[cell];
            else
                add(cells[cell], w[row]);
        };
        seen.next_text();
        if (presence) {
            visit_tokens(table, texts[row], buffers, soon, [&](uint32_t number) {
                if (seen.insert(number)) count(number);
            });
        } else {
            visit_tokens(table, texts[row], buffers, soon, count);
        }
    }
    cells.resize(table.size() * k);
    return cells;
}

}  // namespace naively
