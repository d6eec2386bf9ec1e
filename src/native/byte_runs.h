// Runs of bytes of one kind in a text, found eight or sixteen bytes at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.h"
#include "word.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace naively {

constexpr uint64_t each_byte(uint8_t byte) { return 0x0101010101010101u * byte; }

// Bit 7 of each byte says whether the byte is one from low to high, which are below 0x80. The sums are
// of seven bits, so that none carries over.
constexpr uint64_t bytes_between(uint64_t x, uint8_t low, uint8_t high) {
    const uint64_t last7 = x & each_byte(0x7F);
    return (last7 + each_byte(0x80 - low)) & ~(last7 + each_byte(0x7F - high)) & ~x;
}

// How many bytes are looked at together, and a bit for each that says what `mark` does in bit 7.
#if defined(__SSE2__)
using ByteBlock = Vector<uint8_t, 16>;
NAIVELY_INLINE inline ByteBlock bytes_between(const ByteBlock& x, uint8_t low, uint8_t high) {
    return reinterpret_cast<ByteBlock>((x >= low) & (x <= high));
}
inline ByteBlock bytes_equal(const ByteBlock& x, uint8_t byte) {
    return reinterpret_cast<ByteBlock>(x == byte);
}
template <class Mark>
NAIVELY_INLINE inline uint64_t bits_of_block(const uint8_t* bytes, const Mark& mark) {
    ByteBlock x;
    std::memcpy(&x, bytes, sizeof x);
    return static_cast<uint64_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(mark(x))));
}
#else
using ByteBlock = uint64_t;
constexpr uint64_t bytes_equal(uint64_t x, uint8_t byte) {
    const uint64_t differs = x ^ each_byte(byte);
    return ~(((differs & each_byte(0x7F)) + each_byte(0x7F)) | differs);
}
template <class Mark>
NAIVELY_INLINE inline uint64_t bits_of_block(const uint8_t* bytes, const Mark& mark) {
    return ((mark(load8(bytes)) & each_byte(0x80)) >> 7) * 0x0102040810204080u >> 56;
}
#endif

// A bit for each of 64 bytes.
template <class Mark>
NAIVELY_INLINE inline uint64_t bits_of(const uint8_t* bytes, const Mark& mark) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 64; i += sizeof(ByteBlock)) bits |= bits_of_block(bytes + i, mark) << i;
    return bits;
}

// Calls visit(begin, end) for each run of bytes of which mark(ByteBlock) sets bit 7.
template <class Mark, class Visit>
void visit_runs(const uint8_t* text, size_t n, Mark&& mark, Visit&& visit) {
    size_t begin = 0;
    bool inside = false;
    for (size_t block = 0; block < n; block += 64) {
        const size_t size = std::min<size_t>(64, n - block);
        const uint8_t* bytes = text + block;
        uint8_t last[64] = {};
        if (size < 64) bytes = static_cast<const uint8_t*>(std::memcpy(last, bytes, size));
        uint64_t bits = bits_of(bytes, mark);
        if (size < 64) bits &= (uint64_t{1} << size) - 1;
        // Where a byte differs from the one before it, a run begins or ends.
        const uint64_t before = bits << 1 | (inside ? 1 : 0);
        uint64_t begins = bits & ~before, ends = before & ~bits;
        for (; ends != 0; ends &= ends - 1) {
            if (!inside) {
                begin = block + static_cast<size_t>(__builtin_ctzll(begins));
                begins &= begins - 1;
            }
            inside = false;
            visit(begin, block + static_cast<size_t>(__builtin_ctzll(ends)));
        }
        if (begins != 0) begin = block + static_cast<size_t>(__builtin_ctzll(begins));
        inside = bits >> 63 != 0;
    }
    if (inside) visit(begin, n);
}

}  // namespace naively
