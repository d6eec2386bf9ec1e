// take_strings of kernels/strings.py: the strings of some rows.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bindings.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

// The lengths of the strings of these rows, at the places of their ends; whether all rows are there.
template <class Index>
bool measure_rows(const Strings& strings, const Index* rows, int64_t begin, int64_t end,
                  int64_t* ends) {
    bool all = true;
    for (int64_t i = begin; i < end; ++i) {
        const int64_t row = rows[i];
        const bool there = -1 <= row && row < strings.rows();
        ends[i] = there && row >= 0 ? strings.length(row) : 0;
        all &= there;
    }
    return all;
}

// Copies the strings of these rows, and sets the flags of missing ones; whether there are any.
template <class Index>
bool copy_rows(const Strings& strings, const Index* rows, int64_t begin, int64_t end,
               Writer writer, bool* missing) {
    constexpr int64_t AHEAD = 8;  // rows: strings are taken from anywhere
    bool any = false;
    for (int64_t i = begin; i < end; ++i) {
        if (i + AHEAD < end && rows[i + AHEAD] >= 0)
            __builtin_prefetch(strings[rows[i + AHEAD]].begin);
        const int64_t row = rows[i];
        if (row < 0 || strings.missing(row)) any = missing[i] = true;
        if (row < 0) continue;
        const Bytes string = strings[row];
        writer.write(strings.readable(string));
    }
    return any;
}

nb::object take_strings(nb::handle object, nb::handle rows) {
    const Strings strings(object);
    const Integers chosen(rows, "rows", 1);
    const int64_t n = chosen.shape(0);
    const int parts = count_parts(n, 10.0);
    const Result<int64_t> offsets("empty", n + 1);
    const Result<bool> missing("zeros", n);
    std::atomic<bool> wrong{false}, any{false};
    int64_t size;
    {
        const nb::gil_scoped_release released;
        chosen.visit([&](const auto* row) {
            run_parts(n, parts, [&](int64_t begin, int64_t end, int) {
                if (!measure_rows(strings, row, begin, end, offsets.data() + 1)) wrong = true;
            });
        });
        size = add_up(offsets.data(), n);
    }
    if (wrong)
        throw std::invalid_argument("there are rows that are not among " +
                                    std::to_string(strings.rows()));
    const Result<uint8_t> utf8("empty", size);
    {
        const nb::gil_scoped_release released;
        chosen.visit([&](const auto* row) {
            run_parts(n, parts, [&](int64_t begin, int64_t end, int) {
                const Writer writer(utf8.data() + offsets.data()[begin],
                                    utf8.data() + offsets.data()[end]);
                if (copy_rows(strings, row, begin, end, writer, missing.data())) any = true;
            });
        });
    }
    return make_strings(offsets.object(), utf8.object(), any ? missing.object() : nb::none());
}

}  // namespace

void bind_take_strings(nb::module_& m) {
    m.def("take_strings", &take_strings, nb::arg("strings"), nb::arg("rows"));
}

}  // namespace naively
