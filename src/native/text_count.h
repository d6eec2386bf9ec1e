// Texts counted, encoded and scored by their tokens. Nothing here needs the GIL.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "double_double.h"
#include "large_pages.h"
#include "scores.h"
#include "text_seen.h"
#include "text_source.h"
#include "text_tokens.h"

namespace naively {

struct WeightSum {
    double high = 0, low = 0;

    void operator+=(double weight) {
        add_to_sum(high, low, weight);
        const double sum = high + low;
        low -= sum - high;
        high = sum;
    }
};

inline double high_of(const WeightSum& sum) { return sum.high; }
template <class Count>
double high_of(Count count) { return static_cast<double>(count); }

struct CountJob {
    const TextSource& texts;
    const int32_t* y;
    const double* w;
    size_t k;
    bool presence;
};

// Whether every sum of at most `most` weights is a whole number that float64 holds.
inline bool sums_are_exact(const double* weights, size_t n, size_t most) {
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
        if (weights[i] != std::rint(weights[i])) return false;
        largest = std::max(largest, std::abs(weights[i]));
    }
    return largest * static_cast<double>(most) <= 0x1p53;
}

// Returns a table (tokens, classes), row by row; new tokens are added.
template <class Cell>
LargeVector<Cell> count_tokens(Tokens& tokens, const CountJob& job) {
    LargeVector<Cell> cells(tokens.size() * job.k);
    TokenBuffers buffers;
    SeenWords seen;
    for (size_t row = 0; row < job.texts.size(); ++row) {
        const size_t c = static_cast<size_t>(job.y[row]);
        const auto soon = [&](uint32_t number) {
            const size_t cell = number * job.k + c;
            if (cell < cells.size()) __builtin_prefetch(&cells[cell], 1);
        };
        const auto add = [&](uint32_t number) {
            const size_t cell = number * job.k + c;
            if (cell >= cells.size())
                cells.resize(std::max(2 * cells.size(), (number + 1) * job.k));
            if constexpr (std::is_integral_v<Cell>) {
                ++cells[cell];
            } else {
                cells[cell] += job.w[row];
            }
        };
        if (job.presence) {
            seen.next_text();
            tokens.visit_all(job.texts[row], buffers, soon, [&](uint32_t number) {
                if (seen.insert(number)) add(number);
            });
        } else {
            tokens.visit_all(job.texts[row], buffers, soon, add);
        }
    }
    cells.resize(tokens.size() * job.k);
    return cells;
}

// The known tokens of each text, as the arrays of a CSR matrix.
struct EncodedTexts {
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<double> data;
};

inline EncodedTexts encode_texts(const Tokens& tokens, const TextSource& texts, bool presence) {
    EncodedTexts encoded;
    TokenBuffers buffers;
    std::vector<uint32_t> found;
    const auto soon = [](uint32_t) {};
    for (size_t row = 0; row < texts.size(); ++row) {
        found.clear();
        tokens.visit_known(texts[row], buffers, soon,
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

// How many known tokens each text has.
inline std::vector<int64_t> count_lengths(const Tokens& tokens, const TextSource& texts,
                                          bool presence) {
    std::vector<int64_t> lengths(texts.size());
    TokenBuffers buffers;
    SeenWords seen;
    const auto soon = [](uint32_t) {};
    for (size_t row = 0; row < texts.size(); ++row) {
        seen.next_text();
        tokens.visit_known(texts[row], buffers, soon, [&](uint32_t number) {
            if (!presence || seen.insert(number)) ++lengths[row];
        });
    }
    return lengths;
}

// Score the texts [begin, end): row i of slope, (tokens, classes), for each time token i is there.
inline void score_texts(const Tokens& tokens, const TextSource& texts, const double* slope,
                        const Scores& scores, bool presence, int64_t begin, int64_t end) {
    const size_t k = static_cast<size_t>(scores.classes());
    Finisher finisher(scores.output(), end - begin);
    TokenBuffers buffers;
    SeenWords seen;
    const auto soon = [&](uint32_t number) { __builtin_prefetch(slope + number * k); };
    for (int64_t first = begin; first < end; first += Finisher::max_rows) {
        const int64_t rows = std::min(end - first, Finisher::max_rows);
        double* joint = finisher.rows_at(first);
        for (int64_t row = first; row < first + rows; ++row, joint += k) {
            std::copy_n(scores.start(row), k, joint);
            seen.next_text();
            tokens.visit_known(
                texts[static_cast<size_t>(row)], buffers, soon, [&](uint32_t number) {
                    if (presence && !seen.insert(number)) return;
                    const double* of_token = slope + number * k;
                    for (size_t c = 0; c < k; ++c) joint[c] += of_token[c];
                });
        }
        finisher.finish(first, rows);
    }
}

}  // namespace naively
