// The inner loops of the dense tally: weighted number, sum and sum of squares of the cells of a few
// neighbouring columns, over the rows of one class, in double-double; the running sums stay in
// registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "double_double.h"
#include "simd.h"

namespace naively {

using std::int64_t;

constexpr int64_t strip_columns = 8;  // doubles in a cache line
constexpr int statistics = 3;         // weight, value, square

// The sums of one class and strip: [statistic][high, low][lane].
using StripSums = std::array<std::array<std::array<double, strip_columns>, 2>, statistics>;

template <class T>
struct Block {
    const T* cells;
    int64_t stride;
    const double* weight;  // of the block's rows, or null
    double one;            // which the compiler does not know
    mutable std::uintptr_t ahead;  // the address of what comes after, prefetched line by line

    NAIVELY_INLINE inline void prefetch_line() const {
        constexpr std::uintptr_t cache_line = 64;
        __builtin_prefetch(reinterpret_cast<const void*>(ahead), 0, 2);
        ahead += cache_line;
    }
};

// As much of a strip as has its sums in registers.
template <class Isa>
constexpr int64_t piece_columns = std::min<int64_t>(strip_columns, 2 * Isa::lanes);

// The common case, no weights: sum a piece of a strip over the given rows; false if it has to be
// summed again with care, as a cell is NaN or infinite, or the bias (below) overflowed.
//
// Squares are added to a sum that begins with a bias, their own plain sum, which is at least as
// large as each of them: then the error of s' = s + x*x is x*x - (s' - s), two operations instead
// of ten. The bias is taken out at the end; being no larger than the sum, it costs no digits.
// Processors that add and multiply in different units are busiest adding, so that some of the
// additions are written as a multiplication by one.
template <class Isa, class T>
NAIVELY_INLINE inline bool sum_plain_piece(const Block<T>& block, int64_t column,
                                           const std::int32_t* rows, int64_t count,
                                           int64_t first_lane, StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    constexpr int vectors = piece_columns<Isa> / lanes;
    using V = Vector<double, lanes>;
    const T* const cells = block.cells + column + first_lane;
    V bias[2][vectors] = {};  // two chains wait for one another less
    int64_t i = 0;
    const auto add_bias = [&](int64_t row, V (&to)[vectors]) NAIVELY_INLINE {
        const T* from = cells + rows[row] * block.stride;
        block.prefetch_line();
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const V x = load<lanes>(from + v * lanes);
            to[v] = multiply_add<Isa, lanes>(x, x, to[v]);
        }
    };
    for (; i + 2 <= count; i += 2) {
        add_bias(i, bias[0]);
        add_bias(i + 1, bias[1]);
    }
    if (i < count) add_bias(i, bias[0]);
    const V one = broadcast<lanes>(block.one);
    V value[vectors][2] = {}, square[vectors][2] = {};
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) square[v][0] = bias[0][v] + bias[1][v];
    for (i = 0; i < count; ++i) {
        const T* from = cells + rows[i] * block.stride;
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const V x = load<lanes>(from + v * lanes);
            const V before = value[v][0], sum = before + x;
            const V added = sum - before;
            const V kept = multiply_add<Isa, lanes>(-added, one, sum);
            const V error = (before - kept) + multiply_add<Isa, lanes>(-added, one, x);
            value[v][0] = sum;
            value[v][1] = multiply_add<Isa, lanes>(error, one, value[v][1]);
            const V squares = fused_multiply_add<lanes>(x, x, square[v][0]);
            const V added_square = squares - square[v][0];
            square[v][0] = squares;
            square[v][1] += fused_multiply_add<lanes>(x, x, -added_square);
        }
    }
    bool finite = true;
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) {
        V high = square[v][0], low = square[v][1];
        add_to_sum(high, low, -(bias[0][v] + bias[1][v]));
        store<lanes>(&sums[1][0][first_lane + v * lanes], value[v][0]);
        store<lanes>(&sums[1][1][first_lane + v * lanes], value[v][1]);
        store<lanes>(&sums[2][0][first_lane + v * lanes], high);
        store<lanes>(&sums[2][1][first_lane + v * lanes], low);
        const V zero_or_nan = (value[v][0] - value[v][0]) + (high - high);
        NAIVELY_UNROLL
        for (int lane = 0; lane < lanes; ++lane) finite &= zero_or_nan[lane] == 0.0;
    }
    return finite;
}

// Sum a piece of a strip over the given rows of the block; false if there was a NaN, unless
// `missing` is set: then missing cells are left out, and counted out of the weight.
template <class Isa, bool weighted, bool missing, class T>
NAIVELY_INLINE inline bool sum_piece(const Block<T>& block, int64_t column,
                                     const std::int32_t* rows, int64_t count, int64_t first_lane,
                                     StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    constexpr int vectors = piece_columns<Isa> / lanes;
    using V = Vector<double, lanes>;
    V weight[vectors][2] = {}, value[vectors][2] = {}, square[vectors][2] = {};
    for (int64_t i = 0; i < count; ++i) {
        const T* cells = block.cells + rows[i] * block.stride + column + first_lane;
        block.prefetch_line();
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            V x = load<lanes>(cells + v * lanes);
            V w = broadcast<lanes>(weighted ? block.weight[rows[i]] : 1.0);
            if constexpr (missing) {
                const auto present = x == x;
                const V zero{};
                x = present ? x : zero;
                w = present ? w : zero;
                if constexpr (weighted)
                    add_to_sum(weight[v][0], weight[v][1], w);
                else
                    weight[v][0] += w;
            }
            if constexpr (weighted) {
                const V product = w * x;
                const V error = fused_multiply_add<lanes>(w, x, -product);
                add_to_sum(value[v][0], value[v][1], product);
                value[v][1] += error;
                const V squared = product * x;
                const V square_error = fused_multiply_add<lanes>(product, x, -squared);
                add_to_sum(square[v][0], square[v][1], squared);
                square[v][1] += square_error + error * x;
            } else {
                add_to_sum(value[v][0], value[v][1], x);
                const V squared = x * x;
                add_to_sum(square[v][0], square[v][1], squared);
                square[v][1] += fused_multiply_add<lanes>(x, x, -squared);
            }
        }
    }
    bool no_nan = true;
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) {
        NAIVELY_UNROLL
        for (int part = 0; part < 2; ++part) {
            store<lanes>(&sums[0][part][first_lane + v * lanes], weight[v][part]);
            store<lanes>(&sums[1][part][first_lane + v * lanes], value[v][part]);
            store<lanes>(&sums[2][part][first_lane + v * lanes], square[v][part]);
        }
        NAIVELY_UNROLL
        for (int lane = 0; lane < lanes; ++lane) no_nan &= value[v][0][lane] == value[v][0][lane];
    }
    return no_nan;
}

// The same for a strip.
template <class Isa, bool weighted, bool missing, class T>
NAIVELY_INLINE inline bool sum_strip(const Block<T>& block, int64_t column,
                                     const std::int32_t* rows, int64_t count, StripSums& sums) {
    bool usable = true;
    for (int64_t lane = 0; lane < strip_columns; lane += piece_columns<Isa>) {
        if constexpr (weighted || missing)
            usable &= sum_piece<Isa, weighted, missing>(block, column, rows, count, lane, sums);
        else
            usable &= sum_plain_piece<Isa>(block, column, rows, count, lane, sums);
    }
    return usable;
}

template <class Isa>
NAIVELY_INLINE inline void add_strip(StripSums& total, const StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    using V = Vector<double, lanes>;
    for (int statistic = 0; statistic < statistics; ++statistic) {
        for (int lane = 0; lane < strip_columns; lane += lanes) {
            V high = load<lanes>(&total[statistic][0][lane]);
            V low = load<lanes>(&total[statistic][1][lane]);
            add_pair<V>(high, low, load<lanes>(&sums[statistic][0][lane]),
                        load<lanes>(&sums[statistic][1][lane]));
            store<lanes>(&total[statistic][0][lane], high);
            store<lanes>(&total[statistic][1][lane], low);
        }
    }
}

}  // namespace naively
