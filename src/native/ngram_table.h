// A hash index of word n-grams: their numbers, in order of first sight. An n-gram is its last word
// after the (n-1)-gram before it, so that two numbers of 32 bits are its key, and no text is made to
// look it up. There are many, so that there is no more of each than the key and a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

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
    // What a key will be looked for is fetched while others are: its slot, and some time later what
    // the slot will most likely ask for.
    void prefetch(uint64_t key) const { slots_.prefetch(hash_of(key)); }
    void prefetch_key(uint64_t key) const {
        const uint32_t number = slots_.likely(hash_of(key));
        if (number != UNKNOWN) __builtin_prefetch(&keys_[number]);
    }

    uint32_t find(uint64_t key) const { return slots_.number_in(slot_of(key, hash_of(key))); }

    uint32_t find_or_add(uint64_t key) {
        const uint64_t hash = hash_of(key);
        const size_t slot = slot_of(key, hash);
        const uint32_t found = slots_.number_in(slot);
        if (found != UNKNOWN) return found;
        // Whatever runs out of memory, the table stays as it was.
        return slots_.add(hash, slot, size(), [this](size_t i) { return hash_of(keys_[i]); },
                          [&] { keys_.push_back(key); });
    }

    // Makes room for n n-grams, so that the table is not enlarged while they are added.
    void reserve(size_t n) {
        slots_.reserve(n, size(), [this](size_t i) { return hash_of(keys_[i]); });
        keys_.reserve(n);
    }

  private:
    HashSlots slots_{1024};
    LargeVector<uint64_t> keys_;
    uint64_t seed_;

    uint64_t hash_of(uint64_t key) const { return mix(key ^ seed_, 0xD6E8FEB86659FD93); }

    size_t slot_of(uint64_t key, uint64_t hash) const {
        return slots_.slot_of(hash, [&](uint32_t number) { return keys_[number] == key; });
    }
};

}  // namespace naively
