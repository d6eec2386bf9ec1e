// encode_strings and encode_views of kernels/strings.py: the numbers of different strings, in order
// of first sight.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "string_table.h"
#include "string_views.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

// The numbers of short strings that came lately, by their views: most columns hold few, and the
// view of one is compared sooner than the string is hashed.
class Recent {
  public:
    // The number of the string of a row, or -1.
    int32_t find(const Views& views, int64_t row) const {
        Views::Whole whole;
        if (!views.is_whole(row, whole)) return -1;
        const Slot& slot = slots_[place(whole)];
        return slot.whole == whole ? slot.number : -1;
    }

    void keep(const Views& views, int64_t row, int32_t number) {
        Views::Whole whole;
        if (views.is_whole(row, whole)) slots_[place(whole)] = {whole, number};
    }

  private:
    static constexpr int BITS = 12;
    struct Slot {
        Views::Whole whole{0, 0};
        int32_t number = -1;
    };
    std::vector<Slot> slots_{size_t{1} << BITS};

    static size_t place(const Views::Whole& whole) {
        constexpr uint64_t ODD = 0x9E3779B97F4A7C15;  // Knuth's multiplicative hashing
        return ((whole.first * ODD ^ whole.second) * ODD) >> (64 - BITS);
    }
};

// Strings that are not views have none.
class NoRecent {
  public:
    int32_t find(const Strings&, int64_t) const { return -1; }
    void keep(const Strings&, int64_t, int32_t) {}
};

// The different strings of some rows, of `Strings` or `Views`.
template <class Source>
class Levels {
  public:
    const std::vector<int64_t>& first() const { return first_; }

    // Numbers the strings of these rows, several at once: what a hash will be looked for is fetched
    // while others are.
    void encode(const Source& strings, int64_t begin, int64_t end, int32_t* codes) {
        constexpr int AT_ONCE = 32;
        constexpr size_t CACHED = 4096;  // of so few levels nothing needs to be fetched
        StringKey keys[AT_ONCE];
        uint64_t hashes[AT_ONCE];
        int64_t rows[AT_ONCE];
        for (int64_t row = begin; row < end;) {
            int n = 0;
            for (; row < end && n < AT_ONCE; ++row) {
                codes[row] = strings.missing(row) ? -1 : recent_.find(strings, row);
                if (codes[row] >= 0 || strings.missing(row)) continue;
                hashes[n] = look_at(strings, row, keys[n]);
                rows[n++] = row;
            }
            if (first_.size() > CACHED) {
                for (int i = 0; i < n; ++i) table_.prefetch(hashes[i]);
                for (int i = 0; i < n; ++i) table_.prefetch_key(hashes[i]);
            }
            for (int i = 0; i < n; ++i) {
                codes[rows[i]] = number_of(keys[i], hashes[i], rows[i]);
                recent_.keep(strings, rows[i], codes[rows[i]]);
            }
        }
    }

    // The number here of each string that is new among later rows.
    std::vector<int32_t> join(const Source& strings, const Levels& later) {
        std::vector<int32_t> numbers;
        numbers.reserve(later.first_.size());
        for (const int64_t row : later.first_) {
            StringKey key;
            const uint64_t hash = look_at(strings, row, key);
            numbers.push_back(number_of(key, hash, row));
        }
        return numbers;
    }

  private:
    std::conditional_t<std::is_same_v<Source, Views>, Recent, NoRecent> recent_;
    StringTable table_;
    std::vector<int64_t> first_;  // the row of the first of each

    uint64_t look_at(const Source& strings, int64_t row, StringKey& key) const {
        const Readable found = strings.readable(row);
        return table_.look_at(found.string, found.bytes, key);
    }

    int32_t number_of(const StringKey& key, uint64_t hash, int64_t row) {
        const uint32_t number = table_.find_or_add(key, hash);
        if (number == first_.size()) first_.push_back(row);
        return static_cast<int32_t>(number);
    }
};

// Each thread numbers the strings of its rows; then its numbers become those of all rows. Where most
// strings differ, which the first rows show, that would take as long as one thread does.
template <class Source>
std::vector<int64_t> encode_all(const Source& strings, int32_t* codes) {
    constexpr int64_t LOOKED_AT = 16384;
    const int64_t shown = std::min(strings.rows(), LOOKED_AT), others = strings.rows() - shown;
    std::vector<Levels<Source>> levels(1);
    levels[0].encode(strings, 0, shown, codes);
    const bool differ = 2 * static_cast<int64_t>(levels[0].first().size()) > shown;
    const int parts = differ ? 1 : count_parts(others, 10.0);
    levels.resize(parts);
    run_parts(others, parts, [&](int64_t begin, int64_t end, int part) {
        levels[part].encode(strings, shown + begin, shown + end, codes);
    });
    std::vector<std::vector<int32_t>> numbers(parts);
    for (int part = 1; part < parts; ++part)
        numbers[part] = levels[0].join(strings, levels[part]);
    run_parts(others, parts, [&](int64_t begin, int64_t end, int part) {
        if (part == 0) return;
        for (int64_t row = shown + begin; row < shown + end; ++row)
            if (codes[row] >= 0) codes[row] = numbers[part][codes[row]];
    });
    return levels[0].first();
}

template <class Source>
nb::tuple encode(const Source& strings) {
    const Result<int32_t> codes("empty", strings.rows());
    std::vector<int64_t> first;
    {
        const nb::gil_scoped_release released;
        first = encode_all(strings, codes.data());
    }
    return nb::make_tuple(codes.object(), copied<int64_t>(first));
}

nb::tuple encode_strings(nb::handle strings) {
    return encode(Strings(strings));
}

nb::tuple encode_views(nb::handle views, nb::handle buffers, nb::handle missing) {
    return encode(Views(views, buffers, missing));
}

}  // namespace

void bind_encode_strings(nb::module_& m) {
    m.def("encode_strings", &encode_strings, nb::arg("strings"));
    m.def("encode_views", &encode_views, nb::arg("views"), nb::arg("buffers"),
          nb::arg("missing") = nb::none());
}

}  // namespace naively
