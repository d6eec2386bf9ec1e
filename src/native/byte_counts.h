// Small whole numbers, counted in a byte for each cell of a table: an eighth of the memory of a
// table of doubles, so that more of it stays in the caches. A byte that overflows goes on with
// what is left, and its cell is noted.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "large_pages.h"
#include "simd.h"

namespace naively {

class ByteCounts {
  public:
    static constexpr unsigned most = 255;  // the largest number that can be added

    explicit ByteCounts(std::int64_t cells) : bytes_(cells) {}

    // For a loop that adds to many cells.
    std::uint8_t* bytes() { return bytes_.data(); }

    NAIVELY_INLINE inline void add(std::uint8_t* byte, unsigned number) {
        const unsigned sum = *byte + number;
        *byte = static_cast<std::uint8_t>(sum);
        if (sum > most) overflown_.push_back(byte - bytes_.data());
    }

    void add_to(double* table) const {
        for (std::size_t cell = 0; cell < bytes_.size(); ++cell) table[cell] += bytes_[cell];
        for (const std::int64_t cell : overflown_) table[cell] += most + 1;
    }

  private:
    LargeVector<std::uint8_t> bytes_;
    std::vector<std::int64_t> overflown_;
};

// Whether all values are whole numbers that a byte can hold; NaN is none.
template <class Isa, class Value>
NAIVELY_INLINE inline bool fit_in_bytes(const Value* values, std::int64_t count) {
    constexpr int lanes = Isa::lanes;
    using V = Vector<double, lanes>;
    using Bits = Vector<std::int64_t, lanes>;
    // A number that is added to this appears in the last bits, rounded to a whole one.
    const double shift = 0x1p52;
    const V shifts = broadcast<lanes>(shift);
    Bits bits{};
    auto whole = bits == bits;
    const auto look = [&](const V& x) NAIVELY_INLINE {
        const V shifted = x + shifts;
        Bits of_shifted;
        std::memcpy(&of_shifted, &shifted, sizeof shifted);
        bits |= of_shifted;
        whole &= shifted - shifts == x;
    };
    std::int64_t e = 0;
    for (; e + lanes <= count; e += lanes) look(load<lanes>(values + e));
    for (; e < count; ++e) look(broadcast<lanes>(static_cast<double>(values[e])));
    std::int64_t base;
    std::memcpy(&base, &shift, sizeof base);
    bool fit = true;
    for (int lane = 0; lane < lanes; ++lane)
        fit &= whole[lane] != 0 && (bits[lane] | base) - base <= ByteCounts::most;
    return fit;
}

}  // namespace naively
