// A hash index of strings that lie in one place: their numbers, in order of first sight. A string is
// only looked at where it lies, as it outlives the table.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>

#include "hash_slots.h"
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

    void prefetch(uint64_t hash) const { slots_.prefetch(hash); }

    void prefetch_key(uint64_t hash) const {
        const uint32_t number = slots_.likely(hash);
        if (number != HashSlots::UNKNOWN) __builtin_prefetch(&keys_[number]);
    }

    uint32_t find_or_add(const StringKey& key, uint64_t hash) {
        const size_t slot =
            slots_.slot_of(hash, [&](uint32_t number) { return keys_[number] == key; });
        const uint32_t found = slots_.number_in(slot);
        return found != HashSlots::UNKNOWN ? found : add(key, hash, slot);
    }

  private:
    struct Seed {
        uint64_t part[4];
        Seed() {
            std::random_device random;
            for (uint64_t& one : part) one = uint64_t(random()) << 32 | random();
        }
    };

    HashSlots slots_{64};
    LargeVector<StringKey> keys_;
    const uint64_t* seed_ = secret();

    // So that nobody can write a column whose strings all collide; drawn once, as it takes long.
    static const uint64_t* secret() {
        static const Seed seed;
        return seed.part;
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
        const auto hash_of_number = [this](size_t i) { return hash_of(keys_[i]); };
        return slots_.add(hash, slot, size(), hash_of_number, [&] { keys_.push_back(key); });
    }
};

}  // namespace naively
