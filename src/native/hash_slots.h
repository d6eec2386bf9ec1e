// The slots of a hash index of things that are numbered in order of first sight. It has open
// addressing. A slot has 32 bits: the number, and in the bits that no number here needs, some of the
// hash, so that a probe rarely looks at a thing that is not the right one. The things themselves lie
// where the index has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "large_pages.h"
#include "simd.h"

namespace naively {

// The high half of the product of two numbers, xor the low half: each bit depends on all of both.
inline uint64_t mix(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

class HashSlots {
  public:
    static constexpr uint32_t UNKNOWN = UINT32_MAX;

    // How many slots there are is a power of two.
    explicit HashSlots(size_t slots) : slots_(slots) {}

    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }

    // The number that `slot_of` will most likely look at first, or UNKNOWN: what it numbers can be
    // fetched beforehand.
    uint32_t likely(uint64_t hash) const {
        const uint32_t slot = slots_[hash & mask()];
        return has_tag(slot, hash) ? number_of(slot) : UNKNOWN;
    }

    // The slot of the thing of this hash of which is_it(number), or the empty one where it may be put.
    template <class IsIt>
    NAIVELY_INLINE inline size_t slot_of(uint64_t hash, IsIt&& is_it) const {
        for (size_t i = hash & mask();; i = (i + 1) & mask()) {
            const uint32_t slot = slots_[i];
            if (slot == EMPTY || (has_tag(slot, hash) && is_it(number_of(slot)))) return i;
        }
    }

    // The number in a slot, or UNKNOWN if it is empty.
    uint32_t number_in(size_t slot) const {
        return slots_[slot] == EMPTY ? UNKNOWN : number_of(slots_[slot]);
    }

    // Gives a thing the number of all `things` that are there, whose hashes are hash_of(number); its
    // slot is the empty one that slot_of found. Before that it calls keep(), which keeps the thing
    // itself. Whatever runs out of memory, the slots stay as they were.
    template <class HashOf, class Keep>
    uint32_t add(uint64_t hash, size_t slot, size_t things, HashOf&& hash_of, Keep&& keep) {
        if (things >= INT32_MAX)
            throw std::length_error("more words than 32 bits can number");
        if (things >= room_of(slots_.size())) {
            enlarge(more_slots(slots_.size()), things, hash_of);
            slot = empty_slot(hash);
        }
        keep();
        put(hash, slot, things);
        return static_cast<uint32_t>(things);
    }

    // Makes room for n things, so that the slots are not enlarged while they are added.
    template <class HashOf>
    void reserve(size_t n, size_t things, HashOf&& hash_of) {
        size_t slots = slots_.size();
        while (n > room_of(slots)) slots *= 2;
        if (slots > slots_.size()) enlarge(slots, things, hash_of);
    }

  private:
    static constexpr uint32_t EMPTY = 0;

    // The number + 1 in the low bits, of which there are as many as in the number of slots; above
    // them those of the hash.
    LargeVector<uint32_t> slots_;

    size_t mask() const { return slots_.size() - 1; }
    uint32_t low_bits() const { return static_cast<uint32_t>(mask()); }

    static size_t room_of(size_t slots) { return slots / 3 * 2; }

    bool has_tag(uint32_t slot, uint64_t hash) const {
        return ((slot ^ static_cast<uint32_t>(hash >> 32)) & ~low_bits()) == 0;
    }
    uint32_t number_of(uint32_t slot) const { return (slot & low_bits()) - 1; }

    size_t empty_slot(uint64_t hash) const {
        return slot_of(hash, [](uint32_t) { return false; });
    }

    void put(uint64_t hash, size_t slot, size_t number) {
        const auto tag = static_cast<uint32_t>(hash >> 32) & ~low_bits();
        slots_[slot] = tag | static_cast<uint32_t>(number + 1);
    }

    template <class HashOf>
    void enlarge(size_t slots, size_t things, HashOf&& hash_of) {
        HashSlots larger(slots);
        for (size_t number = 0; number < things; ++number) {
            const uint64_t hash = hash_of(number);
            larger.put(hash, larger.empty_slot(hash), number);
        }
        slots_.swap(larger.slots_);
    }
};

}  // namespace naively
