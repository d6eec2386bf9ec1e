// The tokens of a text, as numbers, in the order that kernels/tokens.py says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "character_ngrams.h"
#include "crc32.h"
#include "folded_text.h"
#include "text.h"
#include "token_table.h"
#include "word_splitter.h"

namespace naively {

// Working memory, kept from text to text.
struct TokenBuffers {
    FoldedText text;
    CharacterNGrams characters;
    std::vector<Word> words;
    std::vector<uint64_t> hashes;
    std::vector<uint8_t> is_part;  // of each word
    std::vector<uint32_t> ids, sequence, ngrams;
    std::vector<Crc32> crcs;
};

namespace tokens_detail {

constexpr size_t AHEAD = 12;  // look-ups that are under way at once

template <class Table>
constexpr bool adds_unknown = !std::is_const_v<Table>;

// Marks the id of a word that stands in no n-gram, as it is part of others.
constexpr uint32_t PART = 0x80000000;

// Calls visit(Word, is_part) for each word of a text, in order. A Word is valid until the next text.
template <class Visit>
void visit_words_of(const Text& text, bool lowercase, TokenBuffers& buffers, Visit&& visit) {
    if (text.words != nullptr) {
        text.words->visit([&](Bytes word) { visit(Word::of(word), false); });
        return;
    }
    FoldedText& folded = buffers.text;
    folded.read(text, lowercase, true);
    visit_words(folded, [&](size_t begin, size_t end, bool is_part) {
        visit(folded.word(begin, end), is_part);
    });
}

// The words of a text, with hashes. Of hashed tokens, stop words are left out.
template <class Table>
void collect_words(Table& table, const Text& text, TokenBuffers& buffers) {
    buffers.words.clear();
    buffers.hashes.clear();
    buffers.is_part.clear();
    visit_words_of(text, table.splitting().lowercase, buffers, [&](const Word& word, bool is_part) {
        const uint64_t hash = table.words().hash_of(word);
        if (table.hashed() && table.is_stop_word(table.words().find(word, hash))) return;
        buffers.words.push_back(word);
        buffers.hashes.push_back(hash);
        buffers.is_part.push_back(is_part);
    });
}

// Looks tokens up that each are a word of the table: those of find(add), which calls add(Word). Each is
// looked up a little later than found, as memory is slow to answer.
template <class Table, class Find, class Visit>
void look_up_later(Table& table, Find&& find, Visit&& visit) {
    constexpr size_t WAITING = 16;
    const WordTable& known = table.words();
    std::array<Word, WAITING> ngrams;
    std::array<uint64_t, WAITING> hashes;
    size_t found = 0;
    const auto take = [&](size_t i) {
        const uint32_t number = table.word_id(ngrams[i % WAITING], hashes[i % WAITING]);
        if (adds_unknown<Table> || number != TokenTable::NONE) visit(number);
    };
    const auto add = [&](const Word& ngram) {
        if (found >= WAITING) take(found);
        if (found >= WAITING / 2) known.prefetch_entry(hashes[(found - WAITING / 2) % WAITING]);
        ngrams[found % WAITING] = ngram;
        hashes[found % WAITING] = known.hash_of(ngram);
        known.prefetch(hashes[found % WAITING]);
        ++found;
    };
    find(add);
    for (size_t i = found < WAITING ? 0 : found - WAITING; i < found; ++i) take(i);
}

// The ids of the words of a text, stop words left out; a word that a const table lacks is NONE. A part
// is marked, and left out if only longer n-grams are asked for.
template <class Table, class Visit>
void visit_collected_ids(Table& table, const TokenBuffers& buffers, Visit&& visit) {
    const std::vector<Word>& words = buffers.words;
    for (size_t i = 0; i < words.size(); ++i) {
        if (i + AHEAD < words.size()) table.words().prefetch(buffers.hashes[i + AHEAD]);
        if (buffers.is_part[i] && table.splitting().low > 1) continue;
        const uint32_t id = table.word_id(words[i], buffers.hashes[i]);
        if (table.is_stop_word(id) || (buffers.is_part[i] && id == TokenTable::NONE)) continue;
        visit(buffers.is_part[i] ? id | PART : id);
    }
}

template <class Table, class Visit>
void visit_word_ids(Table& table, const Text& text, TokenBuffers& buffers, Visit&& visit) {
    collect_words(table, text, buffers);
    visit_collected_ids(table, buffers, visit);
}

// N-grams of words with these ids: the words and parts, and for each n, those of n words, each from
// the one of n - 1 words and the next word.
template <class Table, class Visit>
void visit_ngrams_of(Table& table, const std::vector<uint32_t>& marked, TokenBuffers& buffers,
                     Visit&& visit) {
    const size_t low = table.splitting().low, high = table.splitting().high;
    std::vector<uint32_t>&ids = buffers.sequence, &ngrams = buffers.ngrams;
    ids.clear();
    for (const uint32_t id : marked) {
        const bool is_part = (id & PART) != 0 && id != TokenTable::NONE;
        if (!is_part) ids.push_back(id);
        if (low > 1 || id == TokenTable::NONE) continue;
        const uint32_t number = table.token_of_word(is_part ? id & ~PART : id);
        if (number != TokenTable::NONE) visit(number);
    }
    ngrams.assign(ids.begin(), ids.end());
    for (size_t n = 2; n <= high && n <= ids.size(); ++n) {
        const size_t last = ids.size() - n + 1;
        for (size_t i = 0; i < last; ++i) {
            if (i + 2 * AHEAD < last)
                table.prefetch_ngram(ngrams[i + 2 * AHEAD], ids[i + 2 * AHEAD + n - 1]);
            if (i + AHEAD < last) table.prefetch_key(ngrams[i + AHEAD], ids[i + AHEAD + n - 1]);
            const auto ngram = table.next_ngram(ngrams[i], ids[i + n - 1], n >= low);
            ngrams[i] = ngram.code;
            if (n >= low && ngram.token != TokenTable::NONE) visit(ngram.token);
        }
    }
}

template <class Table, class Visit>
void visit_word_ngrams(Table& table, TokenBuffers& buffers, Visit&& visit) {
    buffers.ids.clear();
    visit_collected_ids(table, buffers, [&](uint32_t id) { buffers.ids.push_back(id); });
    visit_ngrams_of(table, buffers.ids, buffers, visit);
}

// A word that holds a space is itself an n-gram, as nothing tells "a b" and "c" from "a" and "b c".
template <class Table, class Visit>
void visit_spaced_ngrams(Table& table, TokenBuffers& buffers, Visit&& visit) {
    WordList words;
    for (size_t i = 0; i < buffers.words.size(); ++i) {
        if (table.is_stop_word(table.words().find(buffers.words[i], buffers.hashes[i]))) continue;
        buffers.words[i].append_to(words.bytes);
        words.end_word();
    }
    std::vector<uint8_t> ngram;
    for (size_t n = table.splitting().low; n <= table.splitting().high; ++n) {
        for (size_t i = 0; i + n <= words.size(); ++i) {
            ngram.clear();
            for (size_t j = i; j < i + n; ++j) {
                if (j > i) ngram.push_back(' ');
                ngram.insert(ngram.end(), words[j].begin, words[j].begin + words[j].length);
            }
            const Bytes bytes{ngram.data(), ngram.size()};
            uint32_t number;
            if constexpr (adds_unknown<Table>)
                number = table.find_or_add(bytes);
            else
                number = table.find(bytes);
            if (number != TokenTable::NONE) visit(number);
        }
    }
}

template <class Visit>
void visit_hashed_ngrams(const TokenTable& table, TokenBuffers& buffers, Visit&& visit) {
    const size_t low = table.splitting().low, high = table.splitting().high;
    std::vector<Word>& words = buffers.words;
    std::vector<Crc32>& crcs = buffers.crcs;  // of each n-gram
    const uint8_t one_space = ' ';
    const Word space = Word::of({&one_space, 1});
    crcs.clear();
    size_t kept = 0;
    for (size_t i = 0; i < words.size(); ++i) {
        const Crc32 crc = Crc32().of(words[i]);
        if (low == 1) visit(table.hash_of(crc));
        if (buffers.is_part[i]) continue;
        crcs.push_back(crc);
        words[kept++] = words[i];
    }
    words.resize(kept);
    for (size_t n = 2; n <= high && n <= words.size(); ++n) {
        for (size_t i = 0; i + n <= words.size(); ++i) {
            crcs[i].of(space).of(words[i + n - 1]);
            if (n >= low) visit(table.hash_of(crcs[i]));
        }
    }
}

}  // namespace tokens_detail

// Calls visit(number) for each token of a text, in order. If the table is const, only known tokens
// are visited; else all are, and new ones are added.
template <class Table, class Visit>
void visit_tokens(Table& table, const Text& whole, TokenBuffers& buffers, Visit&& visit) {
    using namespace tokens_detail;
    const Splitting& splitting = table.splitting();
    const Text text = whole.first(splitting.most);
    if (splitting.unit != Unit::words) {
        buffers.text.read(text, splitting.lowercase, false);
        buffers.characters.read(buffers.text, splitting.unit == Unit::characters_within_words);
        if (!table.hashed())
            return look_up_later(
                table,
                [&](const auto& add) {
                    buffers.characters.visit(splitting.low, splitting.high, add);
                },
                visit);
        buffers.characters.visit(
            splitting.low, splitting.high,
            [&](const Word& ngram) { visit(table.hash_of(Crc32().of(ngram))); });
    } else if (table.words_are_tokens()) {
        constexpr size_t MANY = 30000;  // words, beyond the nearer caches of a processor
        if (table.words().size() > MANY)
            return look_up_later(
                table,
                [&](const auto& add) {
                    visit_words_of(text, splitting.lowercase, buffers,
                                   [&](const Word& word, bool) { add(word); });
                },
                visit);
        visit_words_of(text, splitting.lowercase, buffers, [&](const Word& word, bool) {
            const uint32_t number = table.word_id(word, table.words().hash_of(word));
            if (adds_unknown<Table> || number != TokenTable::NONE) visit(number);
        });
    } else {
        collect_words(table, text, buffers);
        if (table.hashed())
            visit_hashed_ngrams(table, buffers, visit);
        else if (text.spaced)
            visit_spaced_ngrams(table, buffers, visit);
        else
            visit_word_ngrams(table, buffers, visit);
    }
}

}  // namespace naively
