// Which tokens have been in the present text: a set that is emptied for the next text at no cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace naively {

// Of many characters it keeps the last text of each token, which is quickest; of few, whose tokens
// would not be worth memory for all, a hash table of the present text.
class SeenTokens {
  public:
    // For texts of so many characters, and so many tokens that are known.
    SeenTokens(size_t characters, size_t tokens) : keeps_last_(2 * characters >= tokens) {
        if (!keeps_last_) slots_.resize(LEAST, EMPTY);
    }

    void next_text() {
        ++text_;
        if (keeps_last_) return;
        std::fill_n(slots_.begin(), capacity_, EMPTY);
        // Most texts are about as long as the one before; a long one makes none after it slower.
        if (8 * size_ < capacity_ && capacity_ > LEAST) capacity_ /= 4;
        size_ = 0;
    }

    // Writes those numbers that come for the first time in this text, in their order, and returns
    // how many they are. All of them are below `tokens`.
    size_t write_new(const uint32_t* begin, const uint32_t* end, size_t tokens, int32_t* out) {
        const int32_t* const first = out;
        if (keeps_last_) {
            if (last_text_.size() < tokens)
                last_text_.resize(std::max(tokens, 2 * last_text_.size()));
            uint32_t* const last_text = last_text_.data();
            const uint32_t text = text_;
            // Without a branch, so that many numbers are looked up at once.
            for (; begin < end; ++begin) {
                uint32_t& last = last_text[*begin];
                *out = static_cast<int32_t>(*begin);
                out += last != text;
                last = text;
            }
        } else {
            for (; begin < end; ++begin) {
                *out = static_cast<int32_t>(*begin);
                out += insert(*begin);
            }
        }
        return static_cast<size_t>(out - first);
    }

  private:
    static constexpr uint32_t EMPTY = UINT32_MAX;
    static constexpr size_t LEAST = 256;

    bool keeps_last_;
    uint32_t text_ = 0;
    std::vector<uint32_t> last_text_;  // of each token; 0 is none

    std::vector<uint32_t> slots_;
    size_t capacity_ = LEAST;  // of the slots, how many are in use: a power of two; others are empty
    size_t size_ = 0;

    // True the first time in this text.
    bool insert(uint32_t number) {
        if (2 * (size_ + 1) > capacity_) enlarge();
        return place(number);
    }

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
