// Where the cells of one column are, found by the leading bits of a number themselves: no hash, and
// no number is compared.
//
// The cells of a column are neighbours, mostly: those of its positive numbers lie in one window of
// prefixes, those of its negative numbers in another, and 0 is apart from both. Where the windows
// are narrow enough for a table, a place in it says which cell it is. Where they are not, nothing
// is found, and the hash table of the cells has to be asked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "simd.h"

namespace naively {

using std::int64_t;

class CellWindows {
  public:
    static constexpr std::int32_t unknown = -1;

    CellWindows() { forget(); }

    // Nothing is found from here on.
    void forget() {
        cell_.assign(first_place, unknown);
        for (Window& window : windows_) window = {0, 0, first_place};
        shift_ = 0;
        rest_ = 0;
    }

    // From here on find these keys, of cells 0, 1, ..., which have lost so many bits; NaN is found
    // in cell 0. Returns whether they can be found.
    bool find_all(const std::vector<int64_t>& keys, int64_t lost) {
        forget();
        if (lost > mantissa_bits || keys.empty()) return false;
        std::uint64_t every = 0;
        for (const int64_t key : keys) every |= prefix(key, lost) & magnitude;
        // Bits that are 0 in all, as they are in whole numbers, need no room.
        shift_ = std::max<int64_t>(lost, every ? __builtin_ctzll(every) : 0);
        shift_ = std::min<int64_t>(shift_, mantissa_bits);
        rest_ = (std::uint64_t{1} << shift_) - (std::uint64_t{1} << lost);
        std::uint64_t least[2] = {magnitude, magnitude}, most[2] = {0, 0};
        for (const int64_t key : keys) {
            const std::uint64_t place = (prefix(key, lost) & magnitude) >> shift_;
            const bool below = key < 0;
            if (key == 0) continue;
            least[below] = std::min(least[below], place);
            most[below] = std::max(most[below], place);
        }
        int64_t places = first_place;
        for (int below = 0; below < 2; ++below) {
            if (least[below] > most[below]) continue;  // no such number
            const std::uint64_t size = most[below] - least[below] + 1;
            if (size > most_places) return forget(), false;
            windows_[below] = {static_cast<int64_t>(least[below]), static_cast<int64_t>(size),
                               places};
            places += static_cast<int64_t>(size);
        }
        cell_.assign(places, unknown);
        cell_[of_missing] = 0;
        for (std::size_t cell = 0; cell < keys.size(); ++cell) {
            const int64_t key = keys[cell];
            const Window& window = windows_[key < 0];
            const auto place = static_cast<int64_t>((prefix(key, lost) & magnitude) >> shift_);
            cell_[key == 0 ? of_zero : window.begin + place - window.least] =
                static_cast<std::int32_t>(cell);
        }
        return true;
    }

    // The places of numbers in `cells()`. Without branches, so that it becomes vector instructions.
    NAIVELY_INLINE inline void find_places(const double* x, int64_t rows, std::int32_t* places) const {
        const Window positive = windows_[0], negative = windows_[1];
        const int64_t shift = shift_;
        const std::uint64_t rest = rest_;
        for (int64_t i = 0; i < rows; ++i) {
            const double number = static_cast<double>(x[i]) + 0.0;  // -0 is 0
            std::uint64_t bits;
            std::memcpy(&bits, &number, sizeof bits);
            const auto below = static_cast<int64_t>(bits) < 0;
            const int64_t least = below ? negative.least : positive.least;
            const int64_t size = below ? negative.size : positive.size;
            const int64_t begin = below ? negative.begin : positive.begin;
            const auto place = static_cast<int64_t>((bits & magnitude) >> shift) - least;
            int64_t at = begin + place;
            at = ((place < 0) | (place >= size) | ((bits & rest) != 0)) ? of_others : at;
            at = number == 0.0 ? of_zero : at;
            places[i] = static_cast<std::int32_t>(number == number ? at : of_missing);
        }
    }

    // The cell of each place, or unknown.
    const std::int32_t* cells() const { return cell_.data(); }

  private:
    struct Window {
        int64_t least, size, begin;  // the first prefix, how many, and the place of the first
    };
    static constexpr int64_t of_others = 0, of_zero = 1, of_missing = 2, first_place = 3;
    static constexpr int64_t mantissa_bits = 52, most_places = 1 << 15;
    static constexpr std::uint64_t magnitude = std::numeric_limits<int64_t>::max();

    // The bits of the least number in size that has a key.
    static std::uint64_t prefix(int64_t key, int64_t lost) {
        const auto bits = static_cast<std::uint64_t>(key) << lost;
        return key < 0 ? bits ^ (magnitude >> lost << lost) : bits;
    }

    Window windows_[2];  // of positive and negative numbers
    int64_t shift_ = 0;
    std::uint64_t rest_ = 0;  // bits between those that were lost and those that say the place
    std::vector<std::int32_t> cell_;
};

}  // namespace naively
