// UTF-8 made characters of equal width, as few bytes each as the widest of a text needs.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace naively {

// How many bytes each character of a text needs; 0 where all are ASCII. Bytes that are no UTF-8
// have some width too: decode_utf8 refuses them.
inline int character_width(const uint8_t* utf8, size_t n) {
    uint8_t widest = 0;
    for (size_t i = 0; i < n; ++i) widest = std::max(widest, utf8[i]);
    return widest < 0x80 ? 0 : widest < 0xC4 ? 1 : widest < 0xF0 ? 2 : 4;
}

inline size_t count_characters(const uint8_t* utf8, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; ++i) count += (utf8[i] & 0xC0) != 0x80;
    return count;
}

// Writes `length` characters; returns whether the bytes are the UTF-8 of so many. Half a surrogate
// pair may be among them, as in a Python str ("surrogatepass").
template <class Character>
bool decode_utf8(const uint8_t* utf8, size_t n, Character* out, size_t length) {
    constexpr Py_UCS4 least[] = {0, 0x80, 0x800, 0x10000};  // of characters of so many more bytes
    size_t i = 0, written = 0;
    for (; i < n && written < length; ++written) {
        const uint8_t first = utf8[i];
        if (first < 0x80) {
            out[written] = first;
            ++i;
            continue;
        }
        const size_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if (first < 0xC2 || first > 0xF4 || n - i <= more) return false;
        Py_UCS4 c = first & (0x3Fu >> more);
        for (size_t j = 1; j <= more; ++j) {
            const uint8_t next = utf8[i + j];
            if ((next & 0xC0) != 0x80) return false;
            c = c << 6 | (next & 0x3F);
        }
        if (c < least[more] || c > 0x10FFFF) return false;
        out[written] = static_cast<Character>(c);
        i += more + 1;
    }
    return i == n && written == length;
}

}  // namespace naively
