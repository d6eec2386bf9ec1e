// The numbers of tokens (words, word n-grams or character n-grams: see kernels/tokens.py), in order
// of first sight, or by hash.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "crc32.h"
#include "ngram_table.h"
#include "text.h"
#include "word.h"
#include "word_table.h"

namespace naively {

enum class Unit { words, characters, characters_within_words };

struct Splitting {
    Unit unit = Unit::words;
    size_t low = 1, high = 1;
    bool lowercase = true;
    uint32_t features = 0;  // of hashed tokens; 0: tokens are known
    size_t most = SIZE_MAX;  // characters of a text that are read
};

// Some methods have a const twin: that answers NONE for what is unknown, and the other adds it.
class TokenTable {
  public:
    static constexpr uint32_t NONE = UINT32_MAX;

    TokenTable(const Splitting& splitting, const WordList& stop_words) : splitting_(splitting) {
        stop_words.visit([&](Bytes word) { words_.find_or_add(Word::of(word)); });
        stop_words_ = static_cast<uint32_t>(words_.size());
        words_are_tokens_ =
            splitting.unit != Unit::words || (splitting.high == 1 && stop_words_ == 0);
    }

    // A table of texts split alike, in which no token is known.
    TokenTable without_tokens() const {
        WordList stop_words;
        for (size_t id = 0; id < stop_words_; ++id) {
            words_.append_to(stop_words.bytes, id);
            stop_words.end_word();
        }
        return TokenTable(splitting_, stop_words);
    }

    const Splitting& splitting() const { return splitting_; }
    bool hashed() const { return splitting_.features != 0; }
    bool words_are_tokens() const { return words_are_tokens_ && !hashed(); }

    size_t size() const {
        if (hashed()) return splitting_.features;
        if (words_are_tokens_) return words_.size();
        return ngrams_are_tokens_ ? ngrams_.size() : codes_.size();
    }

    // The number of a token as it is written, in Word's bytes.
    uint32_t find(Bytes token) const { return number_of(*this, token); }
    uint32_t find_or_add(Bytes token) { return number_of(*this, token); }

    // The token's bytes, as Word has them, are appended to `out`.
    void append_to(std::vector<uint8_t>& out, size_t number) const {
        append_coded(out, code_of(static_cast<uint32_t>(number)));
    }

    // Whether texts are split alike for both, into tokens that are known.
    bool splits_as(const TokenTable& other) const {
        const Splitting &a = splitting_, &b = other.splitting_;
        if (hashed() || other.hashed() || a.unit != b.unit || a.low != b.low || a.high != b.high ||
            a.most != b.most || stop_words_ != other.stop_words_)
            return false;
        std::vector<uint8_t> mine, theirs;
        for (size_t id = 0; id < stop_words_; ++id) {
            words_.append_to(mine, id), mine.push_back(0);
            other.words_.append_to(theirs, id), theirs.push_back(0);
        }
        return mine == theirs;
    }

    // The number here of each token of another table, for which texts are split alike; unknown ones
    // are added. No token is written out: an n-gram is found by the numbers of its words.
    std::vector<int64_t> join(const TokenTable& other) {
        const std::vector<uint32_t> ids = words_.join(other.words_);
        if (words_are_tokens_) return {ids.begin(), ids.end()};
        std::vector<uint32_t> known(other.ngrams_.size(), NONE);  // codes here of n-grams there
        const auto ngram_of = [&](const auto& self, uint32_t code, bool is_token) -> NGram {
            const uint64_t key = other.ngrams_.key(code & ~NGRAM);
            uint32_t before = static_cast<uint32_t>(key >> 32);
            if ((before & NGRAM) == 0)
                before = ids[before];
            else if (known[before & ~NGRAM] != NONE)
                before = known[before & ~NGRAM];
            else
                before = self(self, before, false).code;
            const NGram found = next_ngram(before, ids[static_cast<uint32_t>(key)], is_token);
            known[code & ~NGRAM] = found.code;
            return found;
        };
        std::vector<int64_t> numbers;
        numbers.reserve(other.size());
        for (size_t i = 0; i < other.size(); ++i) {
            const auto fetch = [&](size_t later, const auto& prefetch) {
                if (later >= other.size()) return;
                const uint32_t code = other.code_of(static_cast<uint32_t>(later));
                const uint64_t key = (code & NGRAM) == 0 ? 0 : other.ngrams_.key(code & ~NGRAM);
                if (key != 0 && (key >> 32 & NGRAM) == 0)
                    prefetch(ids[key >> 32], ids[static_cast<uint32_t>(key)]);
            };
            fetch(i + 2 * AHEAD, [&](auto... ngram) { prefetch_ngram(ngram...); });
            fetch(i + AHEAD, [&](auto... ngram) { prefetch_key(ngram...); });
            const uint32_t code = other.code_of(static_cast<uint32_t>(i));
            const bool is_word = (code & NGRAM) == 0;
            numbers.push_back(is_word ? token_of_word(ids[code])
                                      : ngram_of(ngram_of, code, true).token);
        }
        return numbers;
    }

    // Which words each token consists of, by their places in a list of words.
    struct WordsOfTokens {
        std::vector<int32_t> ids;
        std::vector<int64_t> sizes;
    };

    // The words of the first n tokens, in order of first sight; only of tables of word n-grams.
    WordList words_of_tokens(WordsOfTokens& parts, size_t n) const {
        WordList words;
        std::vector<int32_t> place(words_.size(), -1);
        std::vector<uint32_t> backwards;
        parts.sizes.reserve(n);
        parts.ids.reserve(splitting_.high * n);
        for (size_t i = 0; i < n; ++i) {
            uint32_t code = code_of(static_cast<uint32_t>(i));
            backwards.clear();
            for (; (code & NGRAM) != 0; code = static_cast<uint32_t>(ngrams_.key(code & ~NGRAM) >> 32))
                backwards.push_back(static_cast<uint32_t>(ngrams_.key(code & ~NGRAM)));
            backwards.push_back(code);
            for (size_t j = backwards.size(); j-- > 0;) {
                int32_t& at = place[backwards[j]];
                if (at < 0) {
                    at = static_cast<int32_t>(words.size());
                    words_.append_to(words.bytes, backwards[j]);
                    words.end_word();
                }
                parts.ids.push_back(at);
            }
            parts.sizes.push_back(static_cast<int64_t>(backwards.size()));
        }
        return words;
    }

    // Fills a table in which there is no token with these, each of which must be another.
    void fill(const WordList& tokens) {
        if (!words_are_tokens()) {
            for (size_t i = 0; i < tokens.size(); ++i) require_new(find_or_add(tokens[i]), i);
            return;
        }
        words_.reserve(tokens.size());
        const std::vector<uint32_t> numbers =
            words_.add_each(tokens.size(), [&](size_t i) { return Word::of(tokens[i]); });
        for (size_t i = 0; i < numbers.size(); ++i) require_new(numbers[i], i);
    }

    // The same with n-grams, whose words have these places in a list; only of tables of n-grams.
    void fill(const WordList& words, const int32_t* place, const int64_t* size, size_t tokens) {
        words.visit([](Bytes word) {
            if (std::find(word.begin, word.begin + word.length, ' ') != word.begin + word.length)
                throw std::invalid_argument("a word of an n-gram holds a space");
        });
        words_.reserve(words.size());
        const std::vector<uint32_t> ids =
            words_.add_each(words.size(), [&](size_t i) { return Word::of(words[i]); });
        const auto id_of = [&](int32_t at) {
            if (at < 0 || static_cast<size_t>(at) >= ids.size())
                throw std::invalid_argument("there is no such word");
            return ids[static_cast<size_t>(at)];
        };
        ngrams_.reserve(tokens);
        const int32_t* later = place;
        for (size_t i = 0; i < std::min(AHEAD, tokens); ++i) later += size[i];
        for (size_t i = 0; i < tokens; ++i) {
            if (i + AHEAD < tokens) {
                if (size[i + AHEAD] > 1) prefetch_ngram(id_of(later[0]), id_of(later[1]));
                later += size[i + AHEAD];
            }
            if (size[i] == 0) throw std::invalid_argument("an n-gram has no word");
            NGram ngram{id_of(*place), NONE};
            if (size[i] == 1) ngram.token = token_of_word(ngram.code);
            for (int64_t j = 1; j < size[i]; ++j)
                ngram = next_ngram(ngram.code, id_of(place[j]), j + 1 == size[i]);
            require_new(ngram.token, i);
            place += size[i];
        }
    }

    uint32_t hash_of(Crc32 crc) const { return crc.value() % splitting_.features; }

    // --- words: each has an id, and a number if it is a token
    const WordTable& words() const { return words_; }
    bool is_stop_word(uint32_t id) const { return id < stop_words_; }

    uint32_t word_id(const Word& word, uint64_t hash) const { return words_.find(word, hash); }
    uint32_t word_id(const Word& word, uint64_t hash) { return words_.find_or_add(word, hash); }

    uint32_t token_of_word(uint32_t id) const {
        return id < token_of_word_.size() ? token_of_word_[id] : NONE;
    }
    uint32_t token_of_word(uint32_t id) {
        if (ngrams_are_tokens_) number_tokens_apart();
        return token_of(token_of_word_, id, id);
    }

    // --- word n-grams: each has a code (that of a word is its id), and a number if it is a token
    struct NGram {
        uint32_t code = NONE, token = NONE;
    };

    // The n-gram that goes on from the (n-1)-gram of code `before` with a word.
    NGram next_ngram(uint32_t before, uint32_t word, bool) const {
        if (before == NONE || word == NONE) return {};
        const uint32_t number = ngrams_.find(NGramTable::key_of(before, word));
        return number == NONE ? NGram{} : NGram{number | NGRAM, token_of_ngram(number)};
    }
    NGram next_ngram(uint32_t before, uint32_t word, bool is_token) {
        if (ngrams_are_tokens_ && !is_token) number_tokens_apart();
        const uint32_t number = ngrams_.find_or_add(NGramTable::key_of(before, word));
        const uint32_t code = number | NGRAM;
        if (ngrams_are_tokens_) return {code, number};
        return {code, is_token ? token_of(token_of_ngram_, number, code) : NONE};
    }

    void prefetch_ngram(uint32_t before, uint32_t word) const {
        ngrams_.prefetch(NGramTable::key_of(before, word));
    }
    void prefetch_key(uint32_t before, uint32_t word) const {
        ngrams_.prefetch_key(NGramTable::key_of(before, word));
    }

  private:
    static constexpr uint32_t NGRAM = 0x80000000;  // marks the code of an n-gram, not of a word
    static constexpr size_t AHEAD = 16;  // how many n-grams before its turn one is fetched

    Splitting splitting_;
    bool words_are_tokens_ = true;  // a token's number is the word's id
    // Or the n-gram's number, as long as all n-grams are tokens and no word is: the vectors below
    // are empty then.
    bool ngrams_are_tokens_ = true;
    uint32_t stop_words_ = 0;  // the first words
    WordTable words_;
    NGramTable ngrams_;
    std::vector<uint32_t> token_of_word_, token_of_ngram_;
    std::vector<uint32_t> codes_;  // of each token, which word or n-gram it is

    static_assert(WordTable::UNKNOWN == NONE && NGramTable::UNKNOWN == NONE);

    static void require_new(uint32_t number, size_t expected) {
        if (number != expected) throw std::invalid_argument("a word is there twice");
    }

    uint32_t code_of(uint32_t token) const {
        return words_are_tokens_ ? token : ngrams_are_tokens_ ? token | NGRAM : codes_[token];
    }

    uint32_t token_of_ngram(uint32_t number) const {
        if (ngrams_are_tokens_) return number;
        return number < token_of_ngram_.size() ? token_of_ngram_[number] : NONE;
    }

    // Which token the word or n-gram of a number is; it becomes one.
    uint32_t token_of(std::vector<uint32_t>& tokens, uint32_t number, uint32_t code) {
        if (number >= tokens.size())
            tokens.resize(std::max<size_t>(number + 1, 2 * tokens.size()), NONE);
        if (tokens[number] == NONE) tokens[number] = new_token(code);
        return tokens[number];
    }

    uint32_t new_token(uint32_t code) {
        if (codes_.size() >= INT32_MAX)
            throw std::length_error("more words than 32 bits can number");
        codes_.push_back(code);
        return static_cast<uint32_t>(codes_.size() - 1);
    }

    // Writes down what each token is, as one comes that is no n-gram, or an n-gram that is no token.
    void number_tokens_apart() {
        for (uint32_t number = 0; number < ngrams_.size(); ++number)
            token_of(token_of_ngram_, number, number | NGRAM);
        ngrams_are_tokens_ = false;
    }

    template <class Table>
    static uint32_t number_of(Table& table, Bytes token) {
        if (table.hashed()) return table.hash_of(Crc32().of(token));
        const auto id_of = [&](const Word& word) {
            return table.word_id(word, table.words_.hash_of(word));
        };
        if (table.words_are_tokens_) return id_of(Word::of(token));
        const uint8_t *begin = token.begin, *end = begin + token.length;
        NGram ngram;
        for (bool first = true;; first = false) {
            const uint8_t* space = std::find(begin, end, ' ');
            const uint32_t id = id_of(Word::of({begin, static_cast<size_t>(space - begin)}));
            const bool last = space == end;
            if (!first)
                ngram = table.next_ngram(ngram.code, id, last);
            else if (last)
                return id == NONE ? NONE : table.token_of_word(id);
            else
                ngram.code = id;
            if (last) return ngram.token;
            begin = space + 1;
        }
    }

    void append_coded(std::vector<uint8_t>& out, uint32_t code) const {
        if (words_are_tokens_ || (code & NGRAM) == 0) return words_.append_to(out, code);
        const uint64_t key = ngrams_.key(code & ~NGRAM);
        append_coded(out, static_cast<uint32_t>(key >> 32));
        out.push_back(' ');
        words_.append_to(out, static_cast<uint32_t>(key));
    }
};

}  // namespace naively
