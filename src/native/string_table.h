// A hash index of strings that lie in one place: their numbers, in order of first sight. It has open
// addressing, as word_table.h; but a string is only looked at where it lies, as it outlives the table.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "large_pages.h"
#include "word.h"

namespace naively {

// A string as the table compares it: up to 31 bytes padded with zeros, and the length in the last.
// Most columns hold no longer ones, so that hardly a branch depends on the length, which no
// processor foresees. Of longer ones: the hash, where they begin, and the length.
struct StringKey {
    static constexpr size_t HELD = 31;
    static constexpr size_t READ = HELD + 1;  // bytes that are read, however long the string
    uint64_t part[4];

    void hold(const uint8_t* bytes, size_t length) {
        constexpr uint64_t ALL = ~uint64_t{0};
        static constexpr uint64_t MASKS[8] = {ALL, ALL, ALL, ALL};
        const uint8_t* mask = reinterpret_cast<const uint8_t*>(MASKS) + READ - length;
        for (int i = 0; i < 4; ++i) part[i] = load(bytes + 8 * i) & load(mask + 8 * i);
        part[3] |= static_cast<uint64_t>(length) << LAST;
    }

    void hold_copy(Bytes string) {
        uint8_t copy[READ] = {};
        if (string.length != 0) std::memcpy(copy, string.begin, string.length);
        hold(copy, string.length);
    }

    void point_at(Bytes string, uint64_t hash) {
        part[0] = hash;
        part[1] = reinterpret_cast<std::uintptr_t>(string.begin);
        part[2] = string.length;
        part[3] = LONG << LAST;
    }

    bool is_long() const { return part[3] == LONG << LAST; }

    bool operator==(const StringKey& other) const {
        if (is_long() && other.is_long())
            return part[0] == other.part[0] && part[2] == other.part[2] &&
                   std::memcmp(reinterpret_cast<const void*>(part[1]),
                               reinterpret_cast<const void*>(other.part[1]), part[2]) == 0;
        uint64_t differences = 0;
        for (int i = 0; i < 4; ++i) differences |= part[i] ^ other.part[i];
        return differences == 0;
    }

  private:
    // Where the last byte in memory is in the last part.
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    static constexpr int LAST = 0;
#else
    static constexpr int LAST = 56;
#endif
    static constexpr uint64_t LONG = 0xFF;  // in place of a length

    static uint64_t load(const uint8_t* bytes) {
        uint64_t x;
        std::memcpy(&x, bytes, 8);
        return x;
    }
};

class StringTable {
  public:
    StringTable() : slots_(64) {}

    size_t size() const { return keys_.size(); }

    // Sets the key of a string, from whose first byte on so many can be read; returns the hash.
    uint64_t look_at(Bytes string, size_t readable, StringKey& key) const {
        if (string.length > StringKey::HELD)
            key.point_at(string, hash_of(string));
        else if (readable < StringKey::READ)
            key.hold_copy(string);
        else
            key.hold(string.begin, string.length);
        return hash_of(key);
    }

    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }

    void prefetch_key(uint64_t hash) const {
        const Slot slot = slots_[hash & mask()];
        if (slot.tag == hash >> 32 && slot.next_number != 0)
            __builtin_prefetch(&keys_[slot.next_number - 1]);
    }

    uint32_t find_or_add(const StringKey& key, uint64_t hash) {
        size_t i = hash & mask();
        for (;; i = (i + 1) & mask()) {
            const Slot slot = slots_[i];
            if (slot.next_number == 0) break;
            if (slot.tag == hash >> 32 && keys_[slot.next_number - 1] == key)
                return slot.next_number - 1;
        }
        return add(key, hash, i);
    }

  private:
    struct Slot {
        uint32_t tag;
        uint32_t next_number;  // the string's number + 1; 0 is an empty slot
    };
    struct Seed {
        uint64_t part[4];
        Seed() {
            std::random_device random;
            for (uint64_t& one : part) one = uint64_t(random()) << 32 | random();
        }
    };

    LargeVector<Slot> slots_;  // a power of two, at most half full
    LargeVector<StringKey> keys_;
    const uint64_t* seed_ = secret();

    // So that nobody can write a column whose strings all collide; drawn once, as it takes long.
    static const uint64_t* secret() {
        static const Seed seed;
        return seed.part;
    }

    size_t mask() const { return slots_.size() - 1; }

    static uint64_t mix(uint64_t a, uint64_t b) {
        const auto product = static_cast<unsigned __int128>(a) * b;
        return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }

    uint64_t hash_of(const StringKey& key) const {
        if (key.is_long()) return key.part[0];
        return mix(key.part[0] ^ seed_[0], key.part[1] ^ seed_[1]) +
               mix(key.part[2] ^ seed_[2], key.part[3] ^ seed_[3]);
    }

    // Of a long string. The last step overlaps the one before it.
    uint64_t hash_of(Bytes string) const {
        uint64_t hash = string.length;
        for (size_t i = 0; i < string.length; i += 8) {
            const size_t step = i + 8 <= string.length ? i : string.length - 8;
            hash = mix(hash ^ seed_[0], load8(string.begin + step) ^ seed_[1]);
        }
        return hash;
    }

    uint32_t add(const StringKey& key, uint64_t hash, size_t slot) {
        const size_t number = keys_.size();
        if (number >= INT32_MAX) throw std::length_error("more strings than 32 bits can number");
        if (2 * (number + 1) > slots_.size()) {
            enlarge();
            for (slot = hash & mask(); slots_[slot].next_number != 0;) slot = (slot + 1) & mask();
        }
        keys_.push_back(key);
        slots_[slot] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(number + 1)};
        return static_cast<uint32_t>(number);
    }

    void enlarge() {
        LargeVector<Slot> larger(4 * slots_.size());
        const size_t larger_mask = larger.size() - 1;
        for (size_t number = 0; number < keys_.size(); ++number) {
            const uint64_t hash = hash_of(keys_[number]);
            size_t i = hash & larger_mask;
            while (larger[i].next_number != 0) i = (i + 1) & larger_mask;
            larger[i] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(number + 1)};
        }
        slots_.swap(larger);
    }
};

}  // namespace naively
