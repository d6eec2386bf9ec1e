// Vocabulary.encode of kernels/vocabulary.py. It needs no GIL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text_source.h"
#include "token_table.h"
#include "tokens.h"

namespace naively {

// The known tokens of each text, as the arrays of a CSR matrix.
struct EncodedTexts {
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<double> data;
};

inline EncodedTexts encode_texts(const TokenTable& table, const TextSource& texts, bool presence) {
    EncodedTexts encoded;
    TokenBuffers buffers;
    std::vector<uint32_t> found;
    const auto soon = [](uint32_t) {};
    for (size_t row = 0; row < texts.size(); ++row) {
        found.clear();
        visit_tokens(table, texts[row], buffers, soon,
                     [&](uint32_t number) { found.push_back(number); });
        std::sort(found.begin(), found.end());
        for (size_t i = 0, next; i < found.size(); i = next) {
            for (next = i + 1; next < found.size() && found[next] == found[i];) ++next;
            encoded.indices.push_back(static_cast<int32_t>(found[i]));
            encoded.data.push_back(presence ? 1.0 : static_cast<double>(next - i));
        }
        encoded.indptr.push_back(static_cast<int64_t>(encoded.indices.size()));
    }
    return encoded;
}

}  // namespace naively
