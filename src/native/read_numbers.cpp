// read_numbers of kernels/strings.py: numbers as Python's float reads them.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bindings.h"
#include "digits.h"
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

constexpr size_t LONGEST_WHOLE = 100;

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
