// Which tokens have been in the present text: a set that is emptied for the next text at no cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace naively {

class SeenTokens {
  public:
    void next_text() {
        std::fill_n(slots_.begin(), capacity_, EMPTY);
        // Most texts are about as long as the one before; a long one makes none after it slower.
        if (8 * size_ < capacity_ && capacity_ > LEAST) capacity_ /= 4;
        size_ = 0;
    }

    // True the first time in this text.
    bool insert(uint32_t number) {
        if (2 * (size_ + 1) > capacity_) enlarge();
        return place(number);
    }

  private:
    static constexpr uint32_t EMPTY = UINT32_MAX;
    static constexpr size_t LEAST = 256;

    std::vector<uint32_t> slots_ = std::vector<uint32_t>(LEAST, EMPTY);
    size_t capacity_ = LEAST;  // of the slots, how many are in use: a power of two; others are empty
    size_t size_ = 0;

    bool place(uint32_t number) {
        const size_t mask = capacity_ - 1;
        size_t i = (number * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
        for (; slots_[i] != EMPTY; i = (i + 1) & mask)
            if (slots_[i] == number) return false;
        slots_[i] = number;
        ++size_;
        return true;
    }

    void enlarge() {
        const std::vector<uint32_t> before(slots_.begin(),
                                           slots_.begin() + static_cast<ptrdiff_t>(capacity_));
        std::fill_n(slots_.begin(), capacity_, EMPTY);
        capacity_ *= 4;
        if (slots_.size() < capacity_) slots_.resize(capacity_, EMPTY);
        size_ = 0;
        for (const uint32_t number : before)
            if (number != EMPTY) place(number);
    }
};

}  // namespace naively
