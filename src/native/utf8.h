// UTF-8, written one character at a time.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace naively {

// Writes at most four bytes; returns how many.
inline size_t write_utf8(Py_UCS4 c, uint8_t* out) {
    const auto last6 = [](Py_UCS4 bits) { return static_cast<uint8_t>(0x80 | (bits & 0x3F)); };
    if (c < 0x80) {
        out[0] = static_cast<uint8_t>(c);
        return 1;
    }
    if (c < 0x800) {
        out[0] = static_cast<uint8_t>(0xC0 | c >> 6);
        out[1] = last6(c);
        return 2;
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

}  // namespace naively
