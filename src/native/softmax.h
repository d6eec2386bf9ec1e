// From the joint log likelihoods of a block of rows to its log loss and its excess: the posteriors
// less what is right, times the weights of the rows. The numbers of the rows of a block lie side by
// side, so that each step is taken for several rows at once.
#pragma once

#include <cstdint>
#include <cstring>

#include "simd.h"

namespace naively {

constexpr std::int64_t block_rows = 64;

// What is right for each row of a block, and what the row weighs: 0 past the last row.
struct BlockOfRows {
    std::int64_t count;
    const std::int32_t* codes;
    double weight[block_rows];
};

template <int lanes>
using Numbers = Vector<double, lanes>;
template <int lanes>
using Bits = Vector<std::int64_t, lanes>;

// `yes` where the condition holds, else `no`.
template <int lanes>
NAIVELY_INLINE inline Numbers<lanes> select(const Bits<lanes>& condition, const Numbers<lanes>& yes,
                                            const Numbers<lanes>& no) {
    return (Numbers<lanes>)((condition & (Bits<lanes>)yes) | (~condition & (Bits<lanes>)no));
}

template <int lanes>
NAIVELY_INLINE inline Numbers<lanes> larger(const Numbers<lanes>& a, const Numbers<lanes>& b) {
    return select<lanes>(a > b, a, b);
}

// exp(x) for x <= 0, within 1e-14 of it, and not less than exp(-700).
template <class Isa, int lanes>
NAIVELY_INLINE inline Numbers<lanes> exp_of(const Numbers<lanes>& of) {
    const auto every = [](double value) NAIVELY_INLINE { return broadcast<lanes>(value); };
    constexpr double rounder = 0x1.8p52;  // adding it rounds to an integer, left in the low bits
    const Numbers<lanes> x = larger<lanes>(of, every(-700.0));
    const Numbers<lanes> shifted = x * every(1.4426950408889634074) + every(rounder);
    const Numbers<lanes> exponent = shifted - every(rounder);
    const Numbers<lanes> r =
        (x - exponent * every(0x1.62e42fefa3800p-1)) - exponent * every(0x1.ef35793c76730p-45);
    constexpr double over[] = {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                               1.0 / 120,     1.0 / 24,     1.0 / 6,     0.5,        1.0,
                               1.0};
    Numbers<lanes> p = every(1.0 / 39916800);  // Taylor to r^11 / 11!
    NAIVELY_UNROLL for (int i = 0; i < 11; ++i)
        p = multiply_add<Isa, lanes>(p, r, every(over[i]));
    const Bits<lanes> scale = ((Bits<lanes>)shifted + 1023) << 52;
    return p * (Numbers<lanes>)scale;
}

// log(x) for normal x > 0, within 1e-14. No branches, so that a loop over it becomes vector
// instructions.
NAIVELY_INLINE inline double log_positive(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    // The mantissa is taken between the root of a half and the root of 2.
    const std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;
    const std::uint64_t off = bits - root_of_half;
    const std::uint64_t mantissa_bits = (off & 0x000fffffffffffff) + root_of_half;
    // The exponent, from the high bits, without a conversion of 64-bit integers.
    const std::uint64_t magic_bits = ((off >> 52) ^ 0x800) + 0x4330000000000000;
    double mantissa, magic;
    std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
    std::memcpy(&magic, &magic_bits, sizeof magic);
    // `off >> 52` is the exponent modulo 4096; flipping its sign bit adds 2048.
    const double exponent = magic - (4503599627370496.0 + 2048.0);
    const double s = (mantissa - 1.0) / (mantissa + 1.0), t = s * s;
    double p = 2.0 / 17;
    p = p * t + 2.0 / 15;
    p = p * t + 2.0 / 13;
    p = p * t + 2.0 / 11;
    p = p * t + 2.0 / 9;
    p = p * t + 2.0 / 7;
    p = p * t + 2.0 / 5;
    p = p * t + 2.0 / 3;
    p = p * t + 2.0;
    return exponent * 0.69314718055994530942 + p * s;
}

// The loss of a block by the log odds of the second class, and the excess.
template <class Isa, int lanes>
NAIVELY_INLINE inline double compare_two(const BlockOfRows& rows, const double* joint,
                                         double* excess) {
    alignas(64) double sign[block_rows], least[block_rows], norm[block_rows];
    const double* weight = rows.weight;
    for (std::int64_t i = 0; i < block_rows; ++i)
        sign[i] = i < rows.count && rows.codes[i] == 1 ? -1.0 : 1.0;
    const Numbers<lanes> none = broadcast<lanes>(0.0), one = broadcast<lanes>(1.0);
    for (std::int64_t i = 0; i < block_rows; i += lanes) {
        const Numbers<lanes> signs = load<lanes>(sign + i);
        // Log odds of the wrong class, and those of the less probable class.
        const Numbers<lanes> wrong = signs * load<lanes>(joint + i);
        const Numbers<lanes> above = larger<lanes>(wrong, none);
        const Numbers<lanes> e = exp_of<Isa, lanes>(wrong - above - above);
        const Numbers<lanes> sum = one + e;
        const Numbers<lanes> over = select<lanes>(wrong > none, one, e);
        const Numbers<lanes> p = over / sum * signs * load<lanes>(weight + i);
        std::memcpy(excess + i, &p, sizeof p);
        std::memcpy(least + i, &above, sizeof above);
        std::memcpy(norm + i, &e, sizeof e);
    }
    double losses[block_rows];
    for (std::int64_t i = 0; i < block_rows; ++i)
        losses[i] = (least[i] + log_positive(1.0 + norm[i])) * weight[i];
    double loss = 0.0;
    for (std::int64_t i = 0; i < block_rows; ++i) loss += losses[i];
    return loss;
}

// The loss of a block by the joint log likelihoods of all classes, and the excess.
template <class Isa, int lanes>
NAIVELY_INLINE inline double compare_many(const BlockOfRows& rows, std::int64_t k, const double* joint,
                                          double* excess) {
    alignas(64) double best[block_rows], norm[block_rows];
    const double* weight = rows.weight;
    for (std::int64_t i = 0; i < block_rows; i += lanes) {
        Numbers<lanes> most = load<lanes>(joint + i);
        for (std::int64_t c = 1; c < k; ++c)
            most = larger<lanes>(load<lanes>(joint + c * block_rows + i), most);
        Numbers<lanes> sum{};
        for (std::int64_t c = 0; c < k; ++c) {
            const Numbers<lanes> below = load<lanes>(joint + c * block_rows + i) - most;
            const Numbers<lanes> e = exp_of<Isa, lanes>(below);
            std::memcpy(excess + c * block_rows + i, &e, sizeof e);
            sum += e;
        }
        const Numbers<lanes> factor = load<lanes>(weight + i) / sum;
        for (std::int64_t c = 0; c < k; ++c) {
            const Numbers<lanes> p = load<lanes>(excess + c * block_rows + i) * factor;
            std::memcpy(excess + c * block_rows + i, &p, sizeof p);
        }
        std::memcpy(best + i, &most, sizeof most);
        std::memcpy(norm + i, &sum, sizeof sum);
    }
    double losses[block_rows];
    for (std::int64_t i = 0; i < block_rows; ++i)
        losses[i] = log_positive(norm[i]);
    double loss = 0.0;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const std::int64_t at = rows.codes[i] * block_rows + i;
        excess[at] -= weight[i];
        loss += (losses[i] + best[i] - joint[at]) * weight[i];
    }
    return loss;
}

}  // namespace naively
