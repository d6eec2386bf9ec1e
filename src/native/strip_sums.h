// The inner loops of the dense tally: weighted number, sum and sum of squares of the cells of a few
// neighbouring columns, over the rows of one class, in double-double; the running sums stay in
// registers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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
// summed by sum_piece, as its squares are not as the total lets expect, or a cell is not finite.
//
// Sums begin with a bias at least as large as what is added and as all partial sums: then the error
// of s' = s + x is x - (s' - s), three operations fewer than where x may be the larger. A square is
// at most the sum of squares, and a partial sum at most the root of that sum times the number of
// rows. The bias is taken out at the end; being about as large as the total, it costs few digits.
// Processors that add and multiply in different units are busiest adding, so that one addition is
// written as a multiplication by one.
template <class Isa, class T>
NAIVELY_INLINE inline bool sum_plain_piece(const Block<T>& block, int64_t column,
                                           const std::int32_t* rows, int64_t count,
                                           int64_t first_lane, const StripSums& total,
                                           StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    constexpr int vectors = piece_columns<Isa> / lanes;
    constexpr double surprise = 4.0;    // times the expected sum of squares: not more
    constexpr double least = 0x1p-900;  // of less, the squares or their errors may underflow
    using V = Vector<double, lanes>;
    V value_bias[vectors], square_bias[vectors];
    V value[vectors][2] = {}, square[vectors][2] = {};
    bool expected = true;
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) {
        NAIVELY_UNROLL
        for (int i = 0; i < lanes; ++i) {
            const int64_t lane = first_lane + v * lanes + i;
            const double most =
                surprise * static_cast<double>(count) * (total[2][0][lane] / total[0][0][lane]);
            expected &= most >= least;  // false of 0 / 0, too, where there is no total yet
            square_bias[v][i] = most;
            value_bias[v][i] = 2.0 * std::sqrt(static_cast<double>(count)) * std::sqrt(most);
        }
        value[v][0] = value_bias[v];
        square[v][0] = square_bias[v];
    }
    if (!expected) return false;
    const V one = broadcast<lanes>(block.one);
    const T* const cells = block.cells + column + first_lane;
    for (int64_t i = 0; i < count; ++i) {
        const T* from = cells + rows[i] * block.stride;
        block.prefetch_line();
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const V x = load<lanes>(from + v * lanes);
            const V sum = value[v][0] + x;
            const V added = sum - value[v][0];
            value[v][0] = sum;
            value[v][1] += multiply_add<Isa, lanes>(-added, one, x);
            const V squares = fused_multiply_add<lanes>(x, x, square[v][0]);
            const V added_square = squares - square[v][0];
            square[v][0] = squares;
            square[v][1] += fused_multiply_add<lanes>(x, x, -added_square);
        }
    }
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) {
        add_to_sum(value[v][0], value[v][1], -value_bias[v]);
        add_to_sum(square[v][0], square[v][1], -square_bias[v]);
        NAIVELY_UNROLL
        for (int lane = 0; lane < lanes; ++lane)
            expected &= square[v][0][lane] <= square_bias[v][lane];
        NAIVELY_UNROLL
        for (int part = 0; part < 2; ++part) {
            store<lanes>(&sums[1][part][first_lane + v * lanes], value[v][part]);
            store<lanes>(&sums[2][part][first_lane + v * lanes], square[v][part]);
        }
    }
    return expected;
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

// Call sum_piece(first_lane) for each piece of a strip; whether all were true.
template <class Isa, class SumPiece>
NAIVELY_INLINE inline bool for_each_piece(const SumPiece& sum_piece) {
    bool all = true;
    for (int64_t lane = 0; lane < strip_columns; lane += piece_columns<Isa>) all &= sum_piece(lane);
    return all;
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
