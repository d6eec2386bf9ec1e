// Which tokens have been in the present text, and which of its different tokens each was: a table
// that is emptied for the next text at no cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace naively {

// Slot is the number of a token (SeenTokens), or that and its place (TokenPlaces).
template <class Slot>
class TextTokens {
  public:
    void next_text() {
        std::fill_n(slots_.begin(), capacity_, EMPTY);
        // Most texts are about as long as the one before; a long one makes none after it slower.
        if (8 * size_ < capacity_ && capacity_ > LEAST) capacity_ /= 4;
        size_ = 0;
    }

  protected:
    static constexpr Slot EMPTY = static_cast<Slot>(-1);

    // The slot that holds a token, or the empty one where it may be put.
    Slot& slot_of(uint32_t number) {
        if (2 * (size_ + 1) > capacity_) enlarge();
        return find(number);
    }
    void count_one() { ++size_; }

  private:
    static constexpr size_t LEAST = 256;

    std::vector<Slot> slots_ = std::vector<Slot>(LEAST, EMPTY);
    size_t capacity_ = LEAST;  // of the slots, how many are in use: a power of two; others are empty
    size_t size_ = 0;

    Slot& find(uint32_t number) {
        const size_t mask = capacity_ - 1;
        size_t i = (number * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
        while (slots_[i] != EMPTY && static_cast<uint32_t>(slots_[i]) != number) i = (i + 1) & mask;
        return slots_[i];
    }

    void enlarge() {
        const std::vector<Slot> before(slots_.begin(),
                                       slots_.begin() + static_cast<ptrdiff_t>(capacity_));
        std::fill_n(slots_.begin(), capacity_, EMPTY);
        capacity_ *= 4;
        if (slots_.size() < capacity_) slots_.resize(capacity_, EMPTY);
        for (const Slot slot : before)
            if (slot != EMPTY) find(static_cast<uint32_t>(slot)) = slot;
    }
};

// Of many characters it keeps the last text of each token, which is quickest; of few, which would not
// be worth memory for all tokens, a table of the present text.
class SeenTokens : public TextTokens<uint32_t> {
  public:
    // For texts of so many characters, and so many tokens that are known.
    SeenTokens(size_t characters, size_t tokens) : keeps_last_(2 * characters >= tokens) {}

    void next_text() {
        if (!keeps_last_) return TextTokens::next_text();
        if (++text_ != 0) return;
        std::fill(last_text_.begin(), last_text_.end(), text_);  // all numbers were given
        ++text_;
    }

    // Writes those numbers that come for the first time in this text, in their order, and returns
    // how many they are. All of them are below `tokens`.
    size_t write_new(const uint32_t* begin, const uint32_t* end, size_t tokens, int32_t* out) {
        if (!keeps_last_)
            return write_if(begin, end, out, [&](uint32_t number) { return insert(number); });
        if (last_text_.size() < tokens) last_text_.resize(std::max(tokens, 2 * last_text_.size()));
        uint16_t* const last_text = last_text_.data();
        return write_if(begin, end, out, [=, text = text_](uint32_t number) {
            const bool is_new = last_text[number] != text;
            last_text[number] = text;
            return is_new;
        });
    }

  private:
    bool keeps_last_;
    uint16_t text_ = 0;
    std::vector<uint16_t> last_text_;  // of each token; 0 is none

    // Without a branch, so that many are looked up at once.
    template <class IsNew>
    static size_t write_if(const uint32_t* begin, const uint32_t* end, int32_t* out,
                           const IsNew& is_new) {
        const int32_t* const first = out;
        for (; begin < end; ++begin) {
            *out = static_cast<int32_t>(*begin);
            out += is_new(*begin);
        }
        return static_cast<size_t>(out - first);
    }

    // True the first time in this text.
    bool insert(uint32_t number) {
        uint32_t& slot = slot_of(number);
        if (slot != EMPTY) return false;
        slot = number;
        count_one();
        return true;
    }
};

class TokenPlaces : public TextTokens<uint64_t> {
  public:
    // The place that the token was given in this text; `next` the first time.
    uint32_t place(uint32_t number, uint32_t next) {
        uint64_t& slot = slot_of(number);
        if (slot == EMPTY) {
            slot = uint64_t{next} << 32 | number;
            count_one();
        }
        return static_cast<uint32_t>(slot >> 32);
    }
};

}  // namespace naively
