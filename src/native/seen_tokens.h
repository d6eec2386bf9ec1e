// Which tokens have been in the present text: a set that is emptied for the next text at no cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace naively {

class SeenTokens {
  public:
    void next_text() {
        size_ = 0;
        if (++text_ == 0) {
            std::fill(slots_.begin(), slots_.end(), 0);
            text_ = 1;
        }
    }

    // True the first time in this text.
    bool insert(uint32_t number) {
        if (2 * (size_ + 1) > slots_.size()) enlarge();
        return place(number);
    }

  private:
    std::vector<uint64_t> slots_ = std::vector<uint64_t>(256);  // text and number; a power of two
    uint32_t text_ = 0;
    size_t size_ = 0;

    bool place(uint32_t number) {
        const size_t mask = slots_.size() - 1;
        const uint64_t wanted = uint64_t{text_} << 32 | number;
        size_t i = (number * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
        for (; slots_[i] >> 32 == text_; i = (i + 1) & mask)
            if (slots_[i] == wanted) return false;
        slots_[i] = wanted;
        ++size_;
        return true;
    }

    void enlarge() {
        std::vector<uint64_t> smaller(4 * slots_.size());
        smaller.swap(slots_);
        size_ = 0;
        for (const uint64_t slot : smaller)
            if (slot >> 32 == text_) place(static_cast<uint32_t>(slot));
    }
};

}  // namespace naively
