// UTF-8, read and written one character at a time. Half a surrogate pair may be among the characters,
// as in a Python str ("surrogatepass").
#pragma once

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace naively {

constexpr uint8_t last6(Py_UCS4 c) { return static_cast<uint8_t>(0x80 | (c & 0x3F)); }

// Characters of one byte or two: to look them up takes no branch, as letters of two come with spaces of
// one.
struct ShortUtf8 {
    uint8_t first, second;
    uint16_t size;
};
constexpr std::array<ShortUtf8, 0x800> short_utf8() {
    std::array<ShortUtf8, 0x800> made{};
    for (Py_UCS4 c = 0; c < 0x80; ++c) made[c] = {static_cast<uint8_t>(c), 0, 1};
    for (Py_UCS4 c = 0x80; c < 0x800; ++c) made[c] = {static_cast<uint8_t>(0xC0 | c >> 6), last6(c), 2};
    return made;
}
constexpr std::array<ShortUtf8, 0x800> SHORT_UTF8 = short_utf8();

// Returns how many bytes of four the character has; those behind may be written too.
inline size_t write_utf8(Py_UCS4 c, uint8_t* out) {
    if (c < 0x800) {
        const ShortUtf8 bytes = SHORT_UTF8[c];
        std::memcpy(out, &bytes, 2);
        return bytes.size;
    }
    if (c < 0x10000) {
        out[0] = static_cast<uint8_t>(0xE0 | c >> 12);
        out[1] = last6(c >> 6);
        out[2] = last6(c);
        return 3;
    }
    out[0] = static_cast<uint8_t>(0xF0 | c >> 18);
    out[1] = last6(c >> 12);
    out[2] = last6(c >> 6);
    out[3] = last6(c);
    return 4;
}

inline bool goes_on(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// How many bytes a character has that begins with this one.
inline size_t utf8_size(uint8_t first) { return 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0); }
inline size_t utf8_size(Py_UCS4 c) { return 1 + (c >= 0x80) + (c >= 0x800) + (c >= 0x10000); }

// The character that begins here.
inline Py_UCS4 read_utf8(const uint8_t* utf8) {
    const auto more = [&](size_t i) { return Py_UCS4{utf8[i]} & 0x3F; };
    const Py_UCS4 first = utf8[0];
    if (first < 0x80) return first;
    if (first < 0xE0) return (first & 0x1F) << 6 | more(1);
    if (first < 0xF0) return (first & 0x0F) << 12 | more(1) << 6 | more(2);
    return (first & 0x07) << 18 | more(1) << 12 | more(2) << 6 | more(3);
}

inline bool is_ascii(const uint8_t* bytes, size_t n) {
    uint8_t all = 0;
    for (size_t i = 0; i < n; ++i) all |= bytes[i];
    return all < 0x80;
}

// What is wrong with a byte that three others stand before, or 0. Without branches, so that many bytes are
// checked at once.
inline uint8_t utf8_fault(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
    const bool is_due = (c >= 0xC0) | (b >= 0xE0) | (a >= 0xF0);
    return (is_due != goes_on(d)) | (d == 0xC0) | (d == 0xC1) | (d > 0xF4) | ((c == 0xE0) & (d < 0xA0)) |
           ((c == 0xF0) & (d < 0x90)) | ((c == 0xF4) & (d > 0x8F));
}

inline bool is_utf8(const uint8_t* bytes, size_t n) {
    uint8_t faults = 0;
    for (size_t i = 3; i < n; ++i)
        faults |= utf8_fault(bytes[i - 3], bytes[i - 2], bytes[i - 1], bytes[i]);
    const auto at = [&](size_t i) { return i >= 3 && i < n + 3 ? bytes[i - 3] : uint8_t{0}; };
    for (size_t i = 0; i < n + 3; i = i == 2 ? std::max<size_t>(n, 3) : i + 1)
        faults |= utf8_fault(at(i), at(i + 1), at(i + 2), at(i + 3));
    return faults == 0;
}

}  // namespace naively
