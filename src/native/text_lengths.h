// Vocabulary.lengths of kernels/vocabulary.py. It needs no GIL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "seen_tokens.h"
#include "text_source.h"
#include "token_table.h"
#include "tokens.h"

namespace naively {

// How many known tokens each text has.
inline std::vector<int64_t> count_lengths(const TokenTable& table, const TextSource& texts,
                                          bool presence) {
    std::vector<int64_t> lengths(texts.size());
    TokenBuffers buffers;
    SeenTokens seen;
    const auto soon = [](uint32_t) {};
    for (size_t row = 0; row < texts.size(); ++row) {
        seen.next_text();
        visit_tokens(table, texts[row], buffers, soon, [&](uint32_t number) {
            if (!presence || seen.insert(number)) ++lengths[row];
        });
    }
    return lengths;
}

}  // namespace naively
