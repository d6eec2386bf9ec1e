// A hash index of word n-grams: their numbers, in order of first sight. An n-gram is its last word
// after the (n-1)-gram before it, so that two numbers of 32 bits are its key, and no text is made to
// look it up. There are many: a slot holds the whole key, so that a look-up waits for memory once, and
// no more than that and the number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>

#include "hash_slots.h"
#include "large_pages.h"

namespace naively {

class NGramTable {
  public:
    static constexpr uint32_t UNKNOWN = HashSlots::UNKNOWN;

    NGramTable() {
        // Secret, as in WordTable: whoever writes the text chooses the numbers of its words.
        std::random_device random;
        seed_ = uint64_t(random()) << 32 | random();
    }

    static uint64_t key_of(uint32_t before, uint32_t word) { return uint64_t{before} << 32 | word; }

    size_t size() const { return keys_.size(); }
    uint64_t key(uint32_t number) const { return keys_[number]; }
    void prefetch(uint64_t key) const { __builtin_prefetch(&slots_[place(key)]); }

    uint32_t find(uint64_t key) const { return slots_[slot_of(key)].next_number - 1; }

    uint32_t find_or_add(uint64_t key) {
        const size_t slot = slot_of(key);
        const uint32_t found = slots_[slot].next_number - 1;
        return found != UNKNOWN ? found : add(key, slot);
    }

    // Makes room for n n-grams, so that the table is not enlarged while they are added.
    void reserve(size_t n) {
        size_t slots = slots_.size();
        while (n > room_of(slots)) slots *= 2;
        if (slots > slots_.size()) enlarge(slots);
        keys_.reserve(n);
    }

  private:
    struct Slot {
        uint32_t half[2] = {};     // of the key, as it lies in memory
        uint32_t next_number = 0;  // the n-gram's number + 1; 0 is an empty slot

        uint64_t key() const {
            uint64_t key;
            std::memcpy(&key, half, sizeof key);
            return key;
        }
        void put(uint64_t key, size_t number) {
            std::memcpy(half, &key, sizeof key);
            next_number = static_cast<uint32_t>(number + 1);
        }
    };
    static_assert(sizeof(Slot) == 12);

    LargeVector<Slot> slots_ = LargeVector<Slot>(1024);  // a power of two
    LargeVector<uint64_t> keys_;
    uint64_t seed_;

    size_t mask() const { return slots_.size() - 1; }
    static size_t room_of(size_t slots) { return slots / 3 * 2; }

    size_t place(uint64_t key) const {
        return static_cast<size_t>(mix(key ^ seed_, 0xD6E8FEB86659FD93)) & mask();
    }

    // The slot that holds a key, or the empty one where it may be put.
    size_t slot_of(uint64_t key) const {
        for (size_t i = place(key);; i = (i + 1) & mask()) {
            const Slot& slot = slots_[i];
            if (slot.next_number == 0 || slot.key() == key) return i;
        }
    }

    // Whatever runs out of memory, the table stays as it was.
    uint32_t add(uint64_t key, size_t slot) {
        const size_t number = size();
        if (number >= INT32_MAX) throw std::length_error("more words than 32 bits can number");
        if (number >= room_of(slots_.size())) {
            enlarge(more_slots(slots_.size()));
            slot = slot_of(key);
        }
        keys_.push_back(key);
        slots_[slot].put(key, number);
        return static_cast<uint32_t>(number);
    }

    void enlarge(size_t slots) {
        slots_ = LargeVector<Slot>(slots);
        for (size_t number = 0; number < size(); ++number)
            slots_[slot_of(keys_[number])].put(keys_[number], number);
    }
};

}  // namespace naively
