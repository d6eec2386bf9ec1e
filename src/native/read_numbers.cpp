// read_numbers of kernels/strings.py: numbers as Python's float reads them.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "bindings.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

// As the contract numbers them.
enum Form { whole, number, name, no_number };

struct Reading {
    double value = std::numeric_limits<double>::quiet_NaN();
    Form form = no_number;
};

constexpr uint64_t EXACT = (uint64_t{1} << 53) - 1;
constexpr size_t LONGEST_WHOLE = 100;
constexpr int64_t DIGITS = 19;  // as many fit into 64 bits

bool is_space(uint8_t c) { return c == ' ' || ('\t' <= c && c <= '\r'); }
bool is_digit(uint8_t c) { return '0' <= c && c <= '9'; }

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

// Whether these are the letters, in either case.
bool spells(const uint8_t* at, const uint8_t* end, const char* letters) {
    const size_t length = std::strlen(letters);
    if (static_cast<size_t>(end - at) != length) return false;
    for (size_t i = 0; i < length; ++i)
        if ((at[i] | 0x20) != letters[i]) return false;
    return true;
}

// Any digits, with a point and an exponent or without, rounded to the nearest. What from_chars does
// not say the value of, too large or too small, Python reads, and everything where there is none.
double read_slowly(const uint8_t* begin, const uint8_t* end) {
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
double scaled(const Digits& digits, int64_t exponent, const uint8_t* begin, const uint8_t* end) {
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

Reading read_number(Bytes string) {
    const uint8_t *at = string.begin, *end = at + string.length;
    while (at != end && is_space(*at)) ++at;
    while (at != end && is_space(end[-1])) --end;
    if (at == end) return {};
    const bool negative = *at == '-', spaced = static_cast<size_t>(end - at) != string.length;
    const bool printed = !spaced && *at != '+';
    if (negative || *at == '+') ++at;
    const double sign = negative ? -1.0 : 1.0;

    const uint8_t* const begin = at;
    Digits digits;
    at = digits.read(at, end);
    int64_t read = at - begin, exponent = 0;
    const bool zero_first = read >= 2 && *begin == '0';
    bool only_digits = true;
    if (at != end && *at == '.') {
        only_digits = false;
        const uint8_t* fraction = ++at;
        at = digits.read(at, end);
        read += at - fraction;
        exponent = fraction - at;
    }
    if (read == 0) {
        if (spells(begin, end, "inf") || spells(begin, end, "infinity"))
            return {sign * std::numeric_limits<double>::infinity(), number};
        if (spells(begin, end, "nan"))
            return {std::copysign(std::numeric_limits<double>::quiet_NaN(), sign), number};
        return {};
    }
    if (at != end && (*at | 0x20) == 'e') {
        only_digits = false;
        ++at;
        const bool down = at != end && *at == '-';
        if (at != end && (*at == '-' || *at == '+')) ++at;
        const uint8_t* first = at;
        int64_t shift = 0;
        for (; at != end && is_digit(*at); ++at)
            if (shift < 1000) shift = 10 * shift + (*at - '0');
        if (at == first) return {};
        exponent += down ? -shift : shift;
    }
    if (at != end) return {};

    Form form = number;
    if (zero_first) {
        form = name;
    } else if (only_digits) {
        if (string.length > LONGEST_WHOLE || digits.count > DIGITS || digits.value > EXACT)
            form = name;
        else if (printed && !(negative && digits.value == 0))
            form = whole;
    }
    return {sign * scaled(digits, exponent, begin, end), form};
}

nb::tuple read_numbers(nb::handle object) {
    const Strings strings(object);
    const int64_t rows = strings.rows();
    const int parts = count_parts(rows, 10.0 + 2.0 * strings.mean_length());
    const Result<double> numbers("empty", rows);
    // Of each part the first row of at least each form; of all rows, that of the first such part.
    std::vector<int64_t> firsts(4 * parts, -1);
    const auto read_part = [&](int64_t begin, int64_t end, int part) {
        int64_t* const first = firsts.data() + 4 * part;
        for (int64_t row = begin; row < end; ++row) {
            Reading reading;
            if (strings.missing(row))
                reading.form = whole;
            else
                reading = read_number(strings[row]);
            numbers.data()[row] = reading.value;
            for (int form = reading.form; form > whole && first[form] < 0; --form)
                first[form] = row;
        }
    };
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, read_part);
    }
    std::vector<int64_t> first(3, -1);
    for (int part = parts - 1; part >= 0; --part)
        for (int form = number; form <= no_number; ++form)
            if (firsts[4 * part + form] >= 0) first[form - number] = firsts[4 * part + form];
    return nb::make_tuple(numbers.object(), copied<int64_t>(first));
}

}  // namespace

void bind_read_numbers(nb::module_& m) {
    m.def("read_numbers", &read_numbers, nb::arg("strings"));
}

}  // namespace naively
