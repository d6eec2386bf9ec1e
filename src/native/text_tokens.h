// Tokens and their numbers: words, runs of words, runs of characters, or hashes of these.
// naively/kernels/tokens.py says which there are, and in which order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "crc32.h"
#include "ngrams.h"
#include "text_characters.h"
#include "text_words.h"
#include "vocabulary.h"

namespace naively {

enum class Unit { words, characters, characters_within_words };

struct Splitting {
    Unit unit = Unit::words;
    size_t low = 1, high = 1;
    bool lowercase = true;
    uint32_t features = 0;  // of hashed tokens; 0: tokens are known
};

// Working memory, kept from text to text.
struct TokenBuffers {
    std::vector<uint8_t> word;
    CharacterRuns characters;
    std::vector<Word> words;
    std::vector<uint64_t> hashes;
    std::vector<uint8_t> long_words;
    std::vector<uint32_t> ids, runs, numbers;
};

class Tokens {
  public:
    Tokens() = default;
    Tokens(const Splitting& splitting, const std::vector<std::vector<uint8_t>>& stop_words)
        : splitting_(splitting) {
        for (const auto& bytes : stop_words)
            words_.find_or_add(Word::from_bytes(bytes.data(), bytes.size()));
        stop_words_ = static_cast<uint32_t>(words_.size());
        plain_ = splitting.unit != Unit::words || (splitting.high == 1 && stop_words_ == 0);
    }

    // Tokens split alike, none of them known.
    Tokens emptied() const {
        std::vector<std::vector<uint8_t>> stop_words(stop_words_);
        for (size_t i = 0; i < stop_words_; ++i) {
            words_.append_utf8(i, stop_words[i]);
            for (uint8_t& byte : stop_words[i]) byte = swap_underscore(byte);
        }
        return Tokens(splitting_, stop_words);
    }

    const Splitting& splitting() const { return splitting_; }
    bool hashed() const { return splitting_.features != 0; }

    size_t size() const {
        return hashed() ? splitting_.features : plain_ ? words_.size() : features_.size();
    }

    // Tokens as they are written, in Word's bytes.
    uint32_t find(const std::vector<uint8_t>& bytes) const { return at(*this, bytes); }
    uint32_t find_or_add(const std::vector<uint8_t>& bytes) { return at(*this, bytes); }

    // The UTF-8 of a token is appended to `out`.
    void append_utf8(size_t number, std::vector<uint8_t>& out) const {
        if (plain_)
            words_.append_utf8(number, out);
        else
            append_run(features_[number], out);
    }

    // Calls visit(number) for each token of a text that is known, in order. Before that, maybe
    // soon(number): whatever is kept for the token may be fetched already.
    template <class Soon, class Visit>
    void visit_known(const Text& text, TokenBuffers& buffers, Soon&& soon, Visit&& visit) const {
        visit_tokens(*this, text, buffers, soon, visit);
    }

    // The same for each token; new ones are added.
    template <class Soon, class Visit>
    void visit_all(const Text& text, TokenBuffers& buffers, Soon&& soon, Visit&& visit) {
        visit_tokens(*this, text, buffers, soon, visit);
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t RUN = 0x80000000;  // marks the number of a run among those of words
    static constexpr size_t AHEAD = 12;

    Splitting splitting_;
    bool plain_ = true;        // a token's number is the word's
    uint32_t stop_words_ = 0;  // the first words
    Vocabulary words_;
    NGrams runs_;
    std::vector<uint32_t> feature_of_word_;
    std::vector<uint32_t> features_;  // of each token, which word or (with RUN) run it is

    static_assert(Vocabulary::UNKNOWN == NONE && NGrams::NONE == NONE);

    template <class Self>
    static constexpr bool grows = !std::is_const_v<std::remove_reference_t<Self>>;

    template <class Self>
    static uint32_t word_number(Self& self, const Word& word, uint64_t hash) {
        if constexpr (grows<Self>)
            return self.words_.find_or_add(word, hash);
        else
            return self.words_.find(word, hash);
    }

    uint32_t new_feature(uint32_t code) {
        if (features_.size() >= INT32_MAX)
            throw std::length_error("more words than 32 bits can number");
        features_.push_back(code);
        return static_cast<uint32_t>(features_.size() - 1);
    }

    // The number of a word as a token.
    template <class Self>
    static uint32_t feature_of_word(Self& self, uint32_t id) {
        auto& of = self.feature_of_word_;
        if constexpr (grows<Self>) {
            if (id >= of.size()) of.resize(std::max<size_t>(id + 1, 2 * of.size()), NONE);
            if (of[id] == NONE) of[id] = self.new_feature(id);
            return of[id];
        } else {
            return id < of.size() ? of[id] : NONE;
        }
    }

    // The run that follows the run (or word) `before` with a word: its code, and its number as a
    // token if it is one.
    template <class Self>
    static uint32_t next_run(Self& self, uint32_t before, uint32_t word, bool counted,
                             uint32_t& feature) {
        feature = NONE;
        if (before == NONE || word == NONE) return NONE;
        const uint64_t key = NGrams::key_of(before, word);
        if constexpr (grows<Self>) {
            NGrams::Slot* slot = self.runs_.find_or_add(key);
            if (counted && slot->feature == NONE)
                slot->feature = self.new_feature((slot->next_number - 1) | RUN);
            feature = slot->feature;
            return (slot->next_number - 1) | RUN;
        } else {
            const NGrams::Slot* slot = self.runs_.find(key);
            if (slot == nullptr) return NONE;
            feature = slot->feature;
            return (slot->next_number - 1) | RUN;
        }
    }

    template <class Self>
    static uint32_t at(Self& self, const std::vector<uint8_t>& bytes) {
        if (self.hashed())
            return Crc32().of(bytes.data(), bytes.size()).value() % self.splitting_.features;
        if (self.plain_) {
            const Word word = Word::from_bytes(bytes.data(), bytes.size());
            return word_number(self, word, self.words_.hash_of(word));
        }
        uint32_t code = NONE, feature = NONE;
        for (size_t begin = 0, end; begin <= bytes.size(); begin = end + 1) {
            end = static_cast<size_t>(
                std::find(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(), ' ') -
                bytes.begin());
            const Word word = Word::from_bytes(bytes.data() + begin, end - begin);
            const uint32_t id = word_number(self, word, self.words_.hash_of(word));
            const bool last = end == bytes.size();
            if (begin == 0) {
                code = id;
                if (last) return id == NONE ? NONE : feature_of_word(self, id);
            } else {
                code = next_run(self, code, id, last, feature);
            }
        }
        return feature;
    }

    void append_run(uint32_t code, std::vector<uint8_t>& out) const {
        if ((code & RUN) == 0) return words_.append_utf8(code, out);
        const uint64_t key = runs_.key(code & ~RUN);
        append_run(static_cast<uint32_t>(key >> 32), out);
        out.push_back(' ');
        words_.append_utf8(static_cast<uint32_t>(key), out);
    }

    template <class Self, class Soon, class Visit>
    static void visit_tokens(Self& self, const Text& text, TokenBuffers& buffers, Soon&& soon,
                             Visit&& visit) {
        const Splitting& splitting = self.splitting_;
        if (splitting.unit != Unit::words) {
            buffers.characters.read(text, splitting.lowercase,
                                    splitting.unit == Unit::characters_within_words);
            if (self.hashed())
                buffers.characters.visit(splitting.low, splitting.high, [&](const Word& word) {
                    visit(Crc32().of(word).value() % splitting.features);
                });
            else
                visit_characters(self, buffers, visit);
        } else if (self.plain_ && !self.hashed()) {
            visit_words(text, splitting.lowercase, buffers.word, [&](const Word& word) {
                const uint32_t number = word_number(self, word, self.words_.hash_of(word));
                if (!grows<Self> && number == NONE) return;
                visit(number);
            });
        } else {
            gather(self, text, buffers);
            if (self.hashed())
                visit_hashed_runs(splitting, buffers, visit);
            else if (text.words != nullptr && text.words->spaced)
                visit_spaced_runs(self, buffers, visit);
            else
                visit_runs(self, buffers, soon, visit);
        }
    }

    // There are many runs of characters, so that each is looked up a little later than found.
    template <class Self, class Visit>
    static void visit_characters(Self& self, TokenBuffers& buffers, Visit&& visit) {
        constexpr size_t WAITING = 16;
        std::array<Word, WAITING> words;
        std::array<uint64_t, WAITING> hashes;
        size_t found = 0;
        const auto take = [&](size_t i) {
            const uint32_t number = word_number(self, words[i % WAITING], hashes[i % WAITING]);
            if (grows<Self> || number != NONE) visit(number);
        };
        buffers.characters.visit(
            self.splitting_.low, self.splitting_.high, [&](const Word& word) {
                if (found >= WAITING) take(found);
                if (found >= WAITING / 2)
                    self.words_.prefetch_entry(hashes[(found - WAITING / 2) % WAITING]);
                words[found % WAITING] = word;
                hashes[found % WAITING] = self.words_.hash_of(word);
                self.words_.prefetch(hashes[found % WAITING]);
                ++found;
            });
        for (size_t i = found < WAITING ? 0 : found - WAITING; i < found; ++i) take(i);
    }

    // The words of a text, with hashes, but for stop words.
    template <class Self>
    static void gather(Self& self, const Text& text, TokenBuffers& buffers) {
        buffers.words.clear();
        buffers.hashes.clear();
        buffers.long_words.clear();
        visit_words(text, self.splitting_.lowercase, buffers.word, [&](const Word& word) {
            const uint64_t hash = self.words_.hash_of(word);
            if (self.hashed() && self.stop_words_ != 0 && self.words_.find(word, hash) != NONE)
                return;
            buffers.words.push_back(word);
            buffers.hashes.push_back(hash);
            if (word.length > Word::HELD)
                buffers.long_words.insert(buffers.long_words.end(), word.bytes,
                                          word.bytes + word.length);
        });
        const uint8_t* bytes = buffers.long_words.data();
        for (Word& word : buffers.words) {
            if (word.length <= Word::HELD) continue;
            word.bytes = bytes;
            bytes += word.length;
        }
    }

    template <class Self, class Soon, class Visit>
    static void visit_runs(Self& self, TokenBuffers& buffers, Soon&& soon, Visit&& visit) {
        const std::vector<Word>& words = buffers.words;
        const std::vector<uint64_t>& hashes = buffers.hashes;
        std::vector<uint32_t>&ids = buffers.ids, &runs = buffers.runs, &numbers = buffers.numbers;
        const size_t low = self.splitting_.low, high = self.splitting_.high;
        ids.clear();
        for (size_t i = 0; i < words.size(); ++i) {
            if (i + AHEAD < words.size()) self.words_.prefetch(hashes[i + AHEAD]);
            const uint32_t id = word_number(self, words[i], hashes[i]);
            if (id >= self.stop_words_) ids.push_back(id);
        }
        runs.assign(ids.begin(), ids.end());
        for (size_t n = 1; n <= high && n <= ids.size(); ++n) {
            const size_t last = ids.size() - n + 1;
            numbers.clear();
            for (size_t i = 0; i < last; ++i) {
                uint32_t number = NONE;
                if (n == 1) {
                    if (low == 1 && ids[i] != NONE) number = feature_of_word(self, ids[i]);
                } else {
                    if (i + AHEAD < last)
                        self.runs_.prefetch(
                            NGrams::key_of(runs[i + AHEAD], ids[i + AHEAD + n - 1]));
                    runs[i] = next_run(self, runs[i], ids[i + n - 1], n >= low, number);
                }
                if (number == NONE) continue;
                numbers.push_back(number);
            }
            if (n < low) continue;
            for (size_t i = 0; i < numbers.size(); ++i) {
                if (i + AHEAD < numbers.size()) soon(numbers[i + AHEAD]);
                visit(numbers[i]);
            }
        }
    }

    // A word that holds a space is itself a run of words, as nothing tells "a b" and "c" from "a"
    // and "b c".
    template <class Self, class Visit>
    static void visit_spaced_runs(Self& self, TokenBuffers& buffers, Visit&& visit) {
        std::vector<std::vector<uint8_t>> words;
        for (size_t i = 0; i < buffers.words.size(); ++i)
            if (self.words_.find(buffers.words[i], buffers.hashes[i]) >= self.stop_words_)
                buffers.words[i].append_to(words.emplace_back());
        std::vector<uint8_t> run;
        for (size_t n = self.splitting_.low; n <= self.splitting_.high; ++n) {
            for (size_t i = 0; i + n <= words.size(); ++i) {
                run = words[i];
                for (size_t j = i + 1; j < i + n; ++j) {
                    run.push_back(' ');
                    run.insert(run.end(), words[j].begin(), words[j].end());
                }
                const uint32_t number = at(self, run);
                if (number != NONE) visit(number);
            }
        }
    }

    template <class Visit>
    static void visit_hashed_runs(const Splitting& splitting, TokenBuffers& buffers,
                                  Visit&& visit) {
        const std::vector<Word>& words = buffers.words;
        std::vector<uint32_t>& states = buffers.runs;
        const uint8_t one_space = ' ';
        const Word space = Word::from_bytes(&one_space, 1);
        states.clear();
        for (const Word& word : words) states.push_back(Crc32().of(word).state());
        for (size_t n = 1; n <= splitting.high && n <= words.size(); ++n) {
            for (size_t i = 0; i + n <= words.size(); ++i) {
                if (n > 1)
                    states[i] = Crc32(states[i]).of(space).of(words[i + n - 1]).state();
                if (n >= splitting.low) visit(Crc32(states[i]).value() % splitting.features);
            }
        }
    }
};

}  // namespace naively
