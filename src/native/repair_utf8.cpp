// repair_utf8 of kernels/strings.py: bytes that are not part of UTF-8, replaced.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bindings.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

constexpr uint8_t REPLACEMENT[] = {0xEF, 0xBF, 0xBD};  // U+FFFD

// How many bytes the character has that begins here; 0 if none does. Half a surrogate pair is one.
size_t character_length(const uint8_t* at, const uint8_t* end) {
    const auto follows = [&](std::ptrdiff_t i, uint8_t low = 0x80, uint8_t high = 0xBF) {
        return i < end - at && low <= at[i] && at[i] <= high;
    };
    const uint8_t first = at[0];
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    if (first < 0xE0) return follows(1) ? 2 : 0;
    if (first < 0xF0) return follows(1, first == 0xE0 ? 0xA0 : 0x80) && follows(2) ? 3 : 0;
    const bool within = follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return within && follows(2) && follows(3) ? 4 : 0;
}

// The end of the ASCII characters that bytes begin with, or at most seven bytes before it.
const uint8_t* skip_ascii(const uint8_t* at, const uint8_t* end) {
    while (end - at >= 8 && (load8(at) & 0x8080808080808080) == 0) at += 8;
    return at;
}

// Where the first byte is that is not part of a character; the end if all are.
const uint8_t* skip_characters(const uint8_t* at, const uint8_t* end) {
    for (;;) {
        at = skip_ascii(at, end);
        if (at == end) return end;
        const size_t length = character_length(at, end);
        if (length == 0) return at;
        at += length;
    }
}

// Calls on_characters with each run of characters, and on_broken for each byte between.
template <class OnCharacters, class OnBroken>
void visit_runs(Bytes string, const OnCharacters& on_characters, const OnBroken& on_broken) {
    const uint8_t *at = string.begin, *end = at + string.length;
    for (;;) {
        const uint8_t* broken = skip_characters(at, end);
        if (broken != at) on_characters(Bytes{at, static_cast<size_t>(broken - at)});
        if (broken == end) return;
        on_broken();
        at = broken + 1;
    }
}

int64_t count_broken(Bytes string) {
    int64_t count = 0;
    visit_runs(string, [](Bytes) {}, [&] { ++count; });
    return count;
}

// Whether these rows are characters, and each string begins with one: so nothing is broken.
bool all_valid(const Strings& strings, int64_t begin, int64_t end) {
    const Bytes all = strings.between(begin, end);
    const uint8_t* all_end = all.begin + all.length;
    const uint8_t* rest = skip_ascii(all.begin, all_end);
    if (std::all_of(rest, all_end, [](uint8_t byte) { return byte < 0x80; })) return true;
    bool valid = skip_characters(rest, all_end) == all_end;
    for (int64_t row = begin; valid && row < end; ++row) {
        const Bytes string = strings[row];
        valid = string.length == 0 || (string.begin[0] & 0xC0) != 0x80;
    }
    return valid;
}

Bytes present(const Strings& strings, int64_t row) {
    return strings.missing(row) ? Bytes{nullptr, 0} : strings[row];
}

int64_t count_all_broken(const Strings& strings, int parts) {
    std::vector<int64_t> counts(parts);
    run_parts(strings.rows(), parts, [&](int64_t begin, int64_t end, int part) {
        if (all_valid(strings, begin, end)) return;
        for (int64_t row = begin; row < end; ++row)
            counts[part] += count_broken(present(strings, row));
    });
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

void write_repaired(const Strings& strings, int64_t begin, int64_t end, Writer writer) {
    for (int64_t row = begin; row < end; ++row)
        visit_runs(
            present(strings, row), [&](Bytes run) { writer.write(strings.readable(run)); },
            [&] { writer.write({{REPLACEMENT, sizeof REPLACEMENT}, sizeof REPLACEMENT}); });
}

nb::tuple repair_utf8(nb::object object) {
    const Strings strings(object);
    const int64_t rows = strings.rows();
    const int parts = count_parts(rows, 1.0 + strings.mean_length() / 4);
    int64_t count;
    {
        const nb::gil_scoped_release released;
        count = count_all_broken(strings, parts);
    }
    if (count == 0) return nb::make_tuple(object, 0);
    const Result<int64_t> offsets("empty", rows + 1);
    int64_t* const ends = offsets.data() + 1;
    int64_t size;
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
            for (int64_t row = begin; row < end; ++row) {
                const Bytes string = present(strings, row);
                const int64_t more = int64_t{sizeof REPLACEMENT} - 1;  // for each byte replaced
                ends[row] = static_cast<int64_t>(string.length) + more * count_broken(string);
            }
        });
        size = add_up(offsets.data(), rows);
    }
    const Result<uint8_t> utf8("empty", size);
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
            const int64_t* offset = offsets.data();
            write_repaired(strings, begin, end,
                           Writer(utf8.data() + offset[begin], utf8.data() + offset[end]));
        });
    }
    return nb::make_tuple(make_strings(offsets.object(), utf8.object(), object.attr("missing")),
                          count);
}

}  // namespace

void bind_repair_utf8(nb::module_& m) {
    m.def("repair_utf8", &repair_utf8, nb::arg("strings"));
}

}  // namespace naively
