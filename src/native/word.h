// A word, as it is looked up.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace naively {

// A number whose lowest byte is the first in memory, on any machine.
inline uint64_t load8(const uint8_t* bytes) {
    uint64_t x;
    std::memcpy(&x, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

// Bytes that something else holds.
struct Bytes {
    const uint8_t* begin;
    size_t length;
};

// What is kept of 16 bytes, by how many of them are a word: to look it up is quicker than to shift.
using Mask = std::array<uint64_t, 2>;
constexpr std::array<Mask, 17> masks() {
    constexpr uint64_t all = ~uint64_t{0};
    std::array<Mask, 17> made{};
    for (size_t length = 1; length <= 16; ++length)
        made[length] = {length < 8 ? all >> (64 - 8 * length) : all,
                        length <= 8 ? 0 : all >> (128 - 8 * length)};
    return made;
}
constexpr std::array<Mask, 17> MASKS = masks();

// A word as the table compares it, in UTF-8. Up to 16 bytes are held here, padded with zeros; more are
// only pointed at.
struct Word {
    static constexpr size_t HELD = 16;
    uint64_t first = 0, second = 0;
    uint64_t length = 0;
    const uint8_t* bytes = nullptr;

    // 16 bytes are read, however long the word.
    static Word held(const uint8_t* bytes, size_t length) {
        const auto& [first, second] = MASKS[length];
        return {load8(bytes) & first, load8(bytes + 8) & second, length, nullptr};
    }

    static Word pointed_at(const uint8_t* bytes, size_t length) {
        return {0, 0, length, bytes};
    }

    static Word of(Bytes bytes) {
        if (bytes.length > HELD) return pointed_at(bytes.begin, bytes.length);
        uint8_t copy[HELD] = {};
        if (bytes.length != 0) std::memcpy(copy, bytes.begin, bytes.length);
        return held(copy, bytes.length);
    }

    void append_to(std::vector<uint8_t>& out) const {
        if (length > HELD) {
            out.insert(out.end(), bytes, bytes + length);
        } else {
            for (size_t i = 0; i < length; ++i)
                out.push_back(static_cast<uint8_t>((i < 8 ? first : second) >> (8 * (i % 8))));
        }
    }
};

}  // namespace naively
