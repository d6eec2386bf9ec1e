// A hash index of words: their numbers, in order of first sight. It has open addressing, and its
// slots hold 32 bits of the hash, so that a probe rarely looks at a word that is not the right one.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "large_pages.h"
#include "word.h"

namespace naively {

class WordTable {
  public:
    static constexpr uint32_t UNKNOWN = UINT32_MAX;

    WordTable() : slots_(1024) {
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
        for (size_t i = 0; i < word.length; i += 8) {
            // The last step overlaps the one before it.
            const size_t step = i + 8 <= word.length ? i : word.length - 8;
            hash = mix(hash ^ seed_[0], load8(word.bytes + step) ^ seed_[1]);
        }
        return hash;
    }

    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }

    void prefetch_entry(uint64_t hash) const {
        const Slot slot = slots_[hash & mask()];
        if (slot.tag == hash >> 32 && slot.next_number != 0)
            __builtin_prefetch(&entries_[slot.next_number - 1]);
    }

    uint32_t find(const Word& word, uint64_t hash) const {
        for (size_t i = hash & mask();; i = (i + 1) & mask()) {
            const Slot slot = slots_[i];
            if (slot.next_number == 0) return UNKNOWN;
            if (slot.tag == hash >> 32 && equal(entries_[slot.next_number - 1], word))
                return slot.next_number - 1;
        }
    }

    uint32_t find_or_add(const Word& word, uint64_t hash) {
        size_t i = hash & mask();
        for (;; i = (i + 1) & mask()) {
            const Slot slot = slots_[i];
            if (slot.next_number == 0) break;
            if (slot.tag == hash >> 32 && equal(entries_[slot.next_number - 1], word))
                return slot.next_number - 1;
        }
        return add(word, hash, i);
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
        size_t slots = slots_.size();
        while (slots < 2 * n) slots *= 2;
        if (slots > slots_.size()) enlarge(slots);
        entries_.reserve(n);
    }

  private:
    struct Slot {
        uint32_t tag;
        uint32_t next_number;  // the word's number + 1; 0 is an empty slot
    };
    // Of a long word, `first` is its hash and `second` where its bytes begin in `long_words_`.
    struct Entry {
        uint64_t first, second, length;
    };

    LargeVector<Slot> slots_;  // a power of two, at most half full
    LargeVector<Entry> entries_;
    std::vector<uint8_t> long_words_;
    std::array<uint64_t, 2> seed_;

    size_t mask() const { return slots_.size() - 1; }

    static uint64_t mix(uint64_t a, uint64_t b) {
        const auto product = static_cast<unsigned __int128>(a) * b;
        return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }

    uint64_t hash_of(const Entry& entry) const {
        if (entry.length > Word::HELD) return entry.first;
        return mix(entry.first ^ seed_[0], entry.second ^ seed_[1]);
    }

    bool equal(const Entry& entry, const Word& word) const {
        if (entry.length != word.length) return false;
        if (word.length <= Word::HELD)
            return entry.first == word.first && entry.second == word.second;
        return std::memcmp(long_words_.data() + entry.second, word.bytes, word.length) == 0;
    }

    // Whatever runs out of memory, the table stays as it was.
    uint32_t add(const Word& word, uint64_t hash, size_t slot) {
        const size_t number = entries_.size();
        if (number >= INT32_MAX) throw std::length_error("more words than 32 bits can number");
        if (2 * (number + 1) > slots_.size()) {
            enlarge(more_slots(slots_.size()));
            for (slot = hash & mask(); slots_[slot].next_number != 0;) slot = (slot + 1) & mask();
        }
        Entry entry{word.first, word.second, word.length};
        if (word.length > Word::HELD) {
            entry.first = hash;
            entry.second = long_words_.size();
            long_words_.insert(long_words_.end(), word.bytes, word.bytes + word.length);
        }
        entries_.push_back(entry);
        slots_[slot] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(number + 1)};
        return static_cast<uint32_t>(number);
    }

    void enlarge(size_t slots) {
        LargeVector<Slot> larger(slots);
        const size_t larger_mask = larger.size() - 1;
        for (size_t number = 0; number < entries_.size(); ++number) {
            const uint64_t hash = hash_of(entries_[number]);
            size_t i = hash & larger_mask;
            while (larger[i].next_number != 0) i = (i + 1) & larger_mask;
            larger[i] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(number + 1)};
        }
        slots_.swap(larger);
    }
};

}  // namespace naively
