// Digits as numbers: the nearest float to a whole number times a power of ten.
#pragma once

#include <Python.h>

#include <charconv>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>

#include <nanobind/nanobind.h>

namespace naively {

namespace nb = nanobind;

constexpr uint64_t EXACT = (uint64_t{1} << 53) - 1;
constexpr int64_t DIGITS = 19;  // as many fit into 64 bits

inline bool is_space(uint8_t c) { return c == ' ' || ('\t' <= c && c <= '\r'); }
inline bool is_digit(uint8_t c) { return '0' <= c && c <= '9'; }

// Digits as a whole number, which is right up to DIGITS of them, zeros before them left out.
struct Digits {
    uint64_t value = 0;
    int64_t count = 0;

    const uint8_t* read(const uint8_t* at, const uint8_t* end) {
        for (; at != end && is_digit(*at); ++at) {
            value = 10 * value + (*at - '0');
            count += value != 0 || count != 0;
        }
        return at;
    }
};

// Any digits, with a point and an exponent or without, rounded to the nearest. What from_chars does
// not say the value of, too large or too small, Python reads, and everything where there is none.
inline double read_slowly(const uint8_t* begin, const uint8_t* end) {
    const char *from = reinterpret_cast<const char*>(begin),
               *to = reinterpret_cast<const char*>(end);
#if defined(__cpp_lib_to_chars)
    double value;
    const std::from_chars_result result = std::from_chars(from, to, value);
    if (result.ec == std::errc() && result.ptr == to) return value;
#endif
    const std::string text(from, to);
    const nb::gil_scoped_acquire held;
    const double read = PyOS_string_to_double(text.c_str(), nullptr, nullptr);
    if (read == -1.0 && PyErr_Occurred()) {  // there is no sign, so this is not the number
        PyErr_Clear();
        throw std::bad_alloc();
    }
    return read;
}

// digits.value times a power of ten, both of which are floats: their product is rounded but once.
inline double scaled(const Digits& digits, int64_t exponent, const uint8_t* begin, const uint8_t* end) {
    static constexpr double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    constexpr int64_t MOST = 22;
    if (digits.count > DIGITS) return read_slowly(begin, end);
    if (exponent == 0) return static_cast<double>(digits.value);
    if (digits.value > EXACT || exponent < -MOST || exponent > MOST)
        return read_slowly(begin, end);
    const double value = static_cast<double>(digits.value);
    return exponent < 0 ? value / POWERS[-exponent] : value * POWERS[exponent];
}

}  // namespace naively
