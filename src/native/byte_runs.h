// Runs of bytes of one kind in an ASCII text, found eight bytes at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "word.h"

namespace naively {

constexpr uint64_t each_byte(uint8_t byte) { return 0x0101010101010101u * byte; }

// Bit 7 of each byte says whether the byte is one from low to high; all are below 0x80, so no sum
// carries over.
constexpr uint64_t bytes_between(uint64_t x, uint8_t low, uint8_t high) {
    return (x + each_byte(0x80 - low)) & ~(x + each_byte(0x7F - high));
}

// Calls visit(begin, end) for each run of bytes of which `mark` sets bit 7, where it is given eight
// of them.
template <class Mark, class Visit>
void visit_runs(const uint8_t* text, size_t n, Mark&& mark, Visit&& visit) {
    size_t begin = 0;
    bool inside = false;
    for (size_t block = 0; block < n; block += 64) {
        const size_t size = std::min<size_t>(64, n - block);
        const uint8_t* bytes = text + block;
        uint8_t last[64] = {};
        if (size < 64) bytes = static_cast<const uint8_t*>(std::memcpy(last, bytes, size));
        uint64_t bits = 0;  // one for each byte
        for (size_t i = 0; i < size; i += 8) {
            const uint64_t top_bits = mark(load8(bytes + i)) & each_byte(0x80);
            bits |= ((top_bits >> 7) * 0x0102040810204080u) >> 56 << i;
        }
        if (size < 64) bits &= (uint64_t{1} << size) - 1;
        // Where a byte differs from the one before it, a run begins or ends.
        uint64_t edges = bits ^ (bits << 1 | (inside ? 1 : 0));
        for (; edges != 0; edges &= edges - 1) {
            const size_t position = block + static_cast<size_t>(__builtin_ctzll(edges));
            if (inside)
                visit(begin, position);
            else
                begin = position;
            inside = !inside;
        }
    }
    if (inside) visit(begin, n);
}

}  // namespace naively
