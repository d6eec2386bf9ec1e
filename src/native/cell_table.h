// The cells of one column with their sums by class. A cell is a prefix of the number itself: see
// kernels/reference.py.
//
// An open-addressing table holds up to twice as many cells as are asked for. When there is no more
// room, all keys lose as few bits as leave half of them, and cells that become one are added; as
// many bits would have been lost anyway, and it happens a few times only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "simd.h"
#include "table_sums.h"

namespace naively {

using std::int64_t;

// Whole numbers in the order of x, whose leading bits are those of x (-0 is 0).
NAIVELY_INLINE inline int64_t number_key(double x) {
    x += 0.0;
    int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits ^ ((bits >> 63) & std::numeric_limits<int64_t>::max());
}

// `Total` is a double where every sum is exact, else a Sum.
template <class Total>
class CellTable {
  public:
    CellTable(int64_t cap, int64_t classes) : cap_(cap), classes_(classes) { resize(512); }

    int64_t lost() const { return lost_; }
    int64_t size() const { return static_cast<int64_t>(keys_.size()); }
    const std::vector<int64_t>& keys() const { return keys_; }
    Total* sums() { return sums_.data(); }  // [cell][class], until a cell is added

    NAIVELY_INLINE inline void add_number(double x, std::int32_t c, double weight) {
        const int64_t cell = find_or_add(number_key(x) >> lost_);
        add(sums_[cell * classes_ + c], weight);
    }

    // Add what another part of the rows has counted.
    void merge_with(CellTable& other) {
        if (lost_ < other.lost_) lose(other.lost_ - lost_, order());
        if (other.lost_ < lost_) other.lose(lost_ - other.lost_, other.order());
        for (std::size_t from = 0; from < other.keys_.size(); ++from) {
            // Room is made as for a number; the other's keys then lose as many bits.
            const int64_t to = find_or_add(other.keys_[from] >> (lost_ - other.lost_));
            for (int64_t c = 0; c < classes_; ++c)
                merge(sums_[to * classes_ + c], other.sums_[from * classes_ + c]);
        }
    }

    // Leave at most the cells that were asked for, in the order of their keys.
    void finish() { make_room(); }

  private:
    using KeyOfCell = std::pair<int64_t, std::int32_t>;
    static constexpr std::int32_t empty = -1;

    // The cell of a key that has lost as many bits as the table has now.
    int64_t find_or_add(int64_t key) {
        std::size_t slot = find(key);
        if (cell_[slot] != empty) return cell_[slot];
        if (size() < 2 * cap_) return insert(slot, key);
        const int64_t before = lost_;
        insert(slot, key);
        make_room();
        return cell_[find(key >> (lost_ - before))];
    }

    std::size_t find(int64_t key) const {
        const auto hash = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u;
        std::size_t slot = hash >> place_shift_;
        while (cell_[slot] != empty && key_[slot] != key) slot = (slot + 1) & mask_;
        return slot;
    }

    int64_t insert(std::size_t slot, int64_t key) {
        const int64_t cell = size();
        cell_[slot] = static_cast<std::int32_t>(cell);
        key_[slot] = key;
        keys_.push_back(key);
        sums_.resize(keys_.size() * classes_);
        if (2 * keys_.size() > cell_.size()) resize(2 * cell_.size());
        return cell;
    }

    void resize(std::size_t slots) {
        mask_ = slots - 1;
        place_shift_ = 1 + __builtin_clzll(slots);
        key_.resize(slots);
        cell_.resize(slots);
        fill_slots();
    }

    void fill_slots() {
        std::fill(cell_.begin(), cell_.end(), empty);
        for (std::size_t cell = 0; cell < keys_.size(); ++cell) {
            const std::size_t slot = find(keys_[cell]);
            cell_[slot] = static_cast<std::int32_t>(cell);
            key_[slot] = keys_[cell];
        }
    }

    // The cells in the order of their keys.
    std::vector<KeyOfCell> order() const {
        std::vector<KeyOfCell> order(keys_.size());
        for (std::size_t cell = 0; cell < keys_.size(); ++cell)
            order[cell] = {keys_[cell], static_cast<std::int32_t>(cell)};
        std::sort(order.begin(), order.end());
        return order;
    }

    void make_room() {
        const std::vector<KeyOfCell> sorted = order();
        lose(count_bits_to_lose(sorted), sorted);
    }

    // How few bits the keys can lose for at most cap_ to be left. Neighbours become one as soon as
    // the highest bit that tells them apart is gone.
    int64_t count_bits_to_lose(const std::vector<KeyOfCell>& order) const {
        int64_t apart[65] = {};  // by the number of bits to lose
        for (std::size_t i = 1; i < order.size(); ++i) {
            const auto bits = static_cast<std::uint64_t>(order[i].first ^ order[i - 1].first);
            ++apart[64 - __builtin_clzll(bits)];
        }
        int64_t left = 1, lost = 64;
        while (lost > 0 && left + apart[lost] <= cap_) left += apart[lost--];
        return lost;
    }

    // Take bits from every key, add the cells that become one, and put the rest in order.
    void lose(int64_t bits, const std::vector<KeyOfCell>& order) {
        std::vector<int64_t> keys;
        std::vector<Total> sums;
        keys.reserve(order.size());
        sums.reserve(order.size() * classes_);
        for (const auto& [whole, cell] : order) {
            const int64_t key = whole >> bits;
            const Total* from = sums_.data() + cell * classes_;
            if (keys.empty() || keys.back() != key) {
                keys.push_back(key);
                sums.insert(sums.end(), from, from + classes_);
            } else {
                for (int64_t c = 0; c < classes_; ++c)
                    merge(sums[sums.size() - classes_ + c], from[c]);
            }
        }
        keys_.swap(keys);
        sums_.swap(sums);
        lost_ += bits;
        fill_slots();
    }

    int64_t cap_, classes_, lost_ = 0;
    std::size_t mask_ = 0;
    int place_shift_ = 64;
    std::vector<int64_t> key_;  // by slot
    std::vector<std::int32_t> cell_;
    std::vector<int64_t> keys_;  // by cell
    std::vector<Total> sums_;      // [cell][class]
};

}  // namespace naively
