// Small whole numbers, counted in a byte for each cell of a table: an eighth of the memory of a
// table of doubles, so that more of it stays in the caches. A byte that overflows goes on with
// what is left, and the rest is noted.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "large_pages.h"
#include "simd.h"

namespace naively {

class ByteCounts {
  public:
    static constexpr unsigned largest = 0xffff;  // number that can be added

    explicit ByteCounts(std::int64_t cells) : bytes_(cells) {}

    std::uint8_t* bytes() { return bytes_.data(); }

    NAIVELY_INLINE inline void add(std::uint8_t* byte, unsigned number) {
        const unsigned sum = *byte + number;
        *byte = static_cast<std::uint8_t>(sum);
        if (sum > 0xff)
            overflown_.push_back({byte - bytes_.data(), static_cast<double>(sum & ~0xffu)});
    }

    // Whether so many bytes overflow that larger cells would take less time, and memory.
    bool are_too_small(std::int64_t additions) const {
        return static_cast<std::int64_t>(overflown_.size()) > 1024 + additions / 8;
    }

    void add_to(double* table) const {
        for (std::size_t cell = 0; cell < bytes_.size(); ++cell) table[cell] += bytes_[cell];
        for (const Overflow& overflow : overflown_) table[overflow.cell] += overflow.rest;
    }

  private:
    struct Overflow {
        std::int64_t cell;
        double rest;
    };

    LargeVector<std::uint8_t> bytes_;
    std::vector<Overflow> overflown_;
};

// Whether all values are whole numbers that can be added to ByteCounts; NaN is none.
template <class Isa, class Value>
NAIVELY_INLINE inline bool are_small(const Value* values, std::int64_t count) {
    constexpr int lanes = Isa::lanes;
    using V = Vector<double, lanes>;
    using Bits = Vector<std::uint64_t, lanes>;
    // A number from 0 that is added to this is found in its last bits, rounded to a whole one.
    const V shift = broadcast<lanes>(0x1p52);
    Bits of_shift;
    std::memcpy(&of_shift, &shift, sizeof shift);
    Bits changed{};
    auto whole = changed == changed;
    const auto look = [&](const V& x) NAIVELY_INLINE {
        const V shifted = x + shift;
        Bits of_shifted;
        std::memcpy(&of_shifted, &shifted, sizeof shifted);
        changed |= of_shifted ^ of_shift;
        whole &= shifted - shift == x;
    };
    std::int64_t e = 0;
    for (; e + lanes <= count; e += lanes) look(load<lanes>(values + e));
    for (; e < count; ++e) look(broadcast<lanes>(static_cast<double>(values[e])));
    bool small = true;
    for (int lane = 0; lane < lanes; ++lane)
        small &= whole[lane] != 0 && changed[lane] <= ByteCounts::largest;
    return small;
}

}  // namespace naively
