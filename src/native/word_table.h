// A hash index of words: their numbers, in order of first sight.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "hash_slots.h"
#include "large_pages.h"
#include "word.h"

namespace naively {

class WordTable {
  public:
    static constexpr uint32_t UNKNOWN = HashSlots::UNKNOWN;

    WordTable() {
        // A secret start, so that nobody can write a text whose words all collide. To ask for it
        // takes longer than to split a short text, so that it is asked for once.
        static const std::array<uint64_t, 2> secret = [] {
            std::random_device random;
            std::array<uint64_t, 2> drawn;
            for (uint64_t& seed : drawn) seed = uint64_t(random()) << 32 | random();
            return drawn;
        }();
        seed_ = secret;
    }

    size_t size() const { return entries_.size(); }

    uint32_t find(const Word& word) const { return find(word, hash_of(word)); }
    uint32_t find_or_add(const Word& word) { return find_or_add(word, hash_of(word)); }

    // The same in two steps, for many words at once: what a hash will be looked for is fetched
    // while others are.
    uint64_t hash_of(const Word& word) const {
        if (word.length <= Word::HELD) return mix(word.first ^ seed_[0], word.second ^ seed_[1]);
        uint64_t hash = word.length;
        for (size_t i = 0; i < word.length; i += 16) {
            // The last step overlaps the one before it.
            const uint8_t* const step = word.bytes + std::min(i, word.length - 16);
            hash = mix(hash ^ load8(step) ^ seed_[0], load8(step + 8) ^ seed_[1]);
        }
        return hash;
    }

    void prefetch(uint64_t hash) const { slots_.prefetch(hash); }

    void prefetch_entry(uint64_t hash) const {
        const uint32_t number = slots_.likely(hash);
        if (number != UNKNOWN) __builtin_prefetch(&entries_[number]);
    }

    uint32_t find(const Word& word, uint64_t hash) const {
        return slots_.number_in(slot_of(word, hash));
    }

    uint32_t find_or_add(const Word& word, uint64_t hash) {
        const size_t slot = slot_of(word, hash);
        const uint32_t found = slots_.number_in(slot);
        return found != UNKNOWN ? found : add(word, hash, slot);
    }

    // The word of a number, which is valid until a word is added.
    Word word(size_t number) const {
        const Entry& entry = entries_[number];
        if (entry.length > Word::HELD)
            return Word::pointed_at(long_words_.data() + entry.second, entry.length);
        return {entry.first, entry.second, entry.length, nullptr};
    }

    // The word's bytes, as Word has them, are appended to `out`.
    void append_to(std::vector<uint8_t>& out, size_t number) const { word(number).append_to(out); }

    // The number here of each word of another table; unknown ones are added.
    std::vector<uint32_t> join(const WordTable& other) {
        return add_each(other.size(), [&](size_t i) { return other.word(i); });
    }

    // The numbers of n words, of which word(i) is one; unknown ones are added. Words are looked up a
    // few at a time, because most of the time is spent waiting for memory.
    template <class WordAt>
    std::vector<uint32_t> add_each(size_t n, const WordAt& word_at) {
        constexpr size_t FEW = 32;
        std::vector<uint32_t> numbers(n);
        Word words[FEW];
        uint64_t hashes[FEW];
        for (size_t begin = 0; begin < n; begin += FEW) {
            const size_t few = n - begin < FEW ? n - begin : FEW;
            for (size_t i = 0; i < few; ++i) {
                words[i] = word_at(begin + i);
                hashes[i] = hash_of(words[i]);
                prefetch(hashes[i]);
            }
            for (size_t i = 0; i < few; ++i) prefetch_entry(hashes[i]);
            for (size_t i = 0; i < few; ++i)
                numbers[begin + i] = find_or_add(words[i], hashes[i]);
        }
        return numbers;
    }

    // Makes room for n words, so that the table is not enlarged while they are added.
    void reserve(size_t n) {
        slots_.reserve(n, size(), [this](size_t i) { return hash_of(entries_[i]); });
        entries_.reserve(n);
    }

  private:
    // Of a long word, `first` is its hash and `second` where its bytes begin in `long_words_`.
    struct Entry {
        uint64_t first, second, length;
    };

    HashSlots slots_{1024};
    LargeVector<Entry> entries_;
    std::vector<uint8_t> long_words_;
    std::array<uint64_t, 2> seed_;

    uint64_t hash_of(const Entry& entry) const {
        if (entry.length > Word::HELD) return entry.first;
        return mix(entry.first ^ seed_[0], entry.second ^ seed_[1]);
    }

    NAIVELY_INLINE inline bool equal(const Entry& entry, const Word& word) const {
        if (entry.length != word.length) return false;
        if (word.length <= Word::HELD)
            return entry.first == word.first && entry.second == word.second;
        return std::memcmp(long_words_.data() + entry.second, word.bytes, word.length) == 0;
    }

    NAIVELY_INLINE inline size_t slot_of(const Word& word, uint64_t hash) const {
        return slots_.slot_of(hash, [&](uint32_t number) { return equal(entries_[number], word); });
    }

    // Whatever runs out of memory, the table stays as it was. Not inlined, as it is rare.
    __attribute__((noinline)) uint32_t add(const Word& word, uint64_t hash, size_t slot) {
        const auto hash_of_number = [this](size_t i) { return hash_of(entries_[i]); };
        return slots_.add(hash, slot, size(), hash_of_number, [&] {
            Entry entry{word.first, word.second, word.length};
            if (word.length > Word::HELD) {
                entry.first = hash;
                entry.second = long_words_.size();
                long_words_.insert(long_words_.end(), word.bytes, word.bytes + word.length);
            }
            entries_.push_back(entry);
        });
    }
};

}  // namespace naively
