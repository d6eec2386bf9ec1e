// A hash index of word n-grams. An n-gram is its last word after the (n-1)-gram before it, so that
// two numbers of 32 bits are its key, and no text is made to look it up.
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "large_pages.h"

namespace naively {

class NGramTable {
  public:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Slot {
        uint64_t key = 0;
        uint32_t next_number = 0;  // the n-gram's number + 1; 0 is an empty slot
        uint32_t token = NONE;     // its number among the tokens, if it is one
    };

    NGramTable() {
        // Secret, as in WordTable: whoever writes the text chooses the numbers of its words.
        std::random_device random;
        seed_ = uint64_t(random()) << 32 | random();
    }

    static uint64_t key_of(uint32_t before, uint32_t word) { return uint64_t{before} << 32 | word; }

    size_t size() const { return keys_.size(); }
    uint64_t key(uint32_t number) const { return keys_[number]; }
    void prefetch(uint64_t key) const { __builtin_prefetch(&slots_[place(key)]); }

    // The slot is valid until an n-gram is added.
    const Slot* find(uint64_t key) const {
        const Slot* slot = &slots_[place(key)];
        for (size_t i = place(key); slot->next_number != 0 && slot->key != key;)
            slot = &slots_[i = (i + 1) & mask()];
        return slot->next_number == 0 ? nullptr : slot;
    }

    Slot* find_or_add(uint64_t key) {
        size_t i = place(key);
        while (slots_[i].next_number != 0 && slots_[i].key != key) i = (i + 1) & mask();
        return slots_[i].next_number != 0 ? &slots_[i] : add(key, i);
    }

    // Makes room for n n-grams, so that the table is not enlarged while they are added.
    void reserve(size_t n) {
        size_t slots = slots_.size();
        while (slots < 2 * n) slots *= 2;
        if (slots > slots_.size()) enlarge(slots);
        keys_.reserve(n);
    }

  private:
    LargeVector<Slot> slots_ = LargeVector<Slot>(1024);  // a power of two, at most half full
    std::vector<uint64_t> keys_;
    uint64_t seed_;

    size_t mask() const { return slots_.size() - 1; }

    size_t place(uint64_t key) const {
        const auto product = static_cast<unsigned __int128>(key ^ seed_) * 0xD6E8FEB86659FD93;
        return static_cast<size_t>(static_cast<uint64_t>(product) ^
                                   static_cast<uint64_t>(product >> 64)) &
               mask();
    }

    // Whatever runs out of memory, the table stays as it was.
    Slot* add(uint64_t key, size_t i) {
        if (keys_.size() >= INT32_MAX)
            throw std::length_error("more words than 32 bits can number");
        if (2 * (keys_.size() + 1) > slots_.size()) {
            enlarge(more_slots(slots_.size()));
            i = place(key);
            while (slots_[i].next_number != 0) i = (i + 1) & mask();
        }
        keys_.push_back(key);
        slots_[i] = {key, static_cast<uint32_t>(keys_.size()), NONE};
        return &slots_[i];
    }

    void enlarge(size_t slots) {
        LargeVector<Slot> smaller(slots);
        smaller.swap(slots_);
        for (const Slot& slot : smaller) {
            if (slot.next_number == 0) continue;
            size_t i = place(slot.key);
            while (slots_[i].next_number != 0) i = (i + 1) & mask();
            slots_[i] = slot;
        }
    }
};

}  // namespace naively
