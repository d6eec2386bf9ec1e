// Splitting a text into words as Python's re does by (?u)\b\w\w+\b on str.lower(): runs of two or
// more alphanumeric characters or '_'.
//
// ASCII is lower-cased eight bytes at a time by setting bit 0x20 of each, which changes the case
// of letters, leaves digits, and turns '_' into 0x7F. As 0x7F is in no word, nothing is confused:
// every word carries 0x7F in place of '_' until it is exported (Word in word.h).
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "byte_runs.h"
#include "text.h"
#include "utf8.h"
#include "word.h"

namespace naively {

namespace splitting_detail {

constexpr uint64_t CASE_BIT = each_byte(0x20);

// Sets bit 7 of each byte that is of a word.
inline uint64_t mark_word_bytes(uint64_t x) {
    return bytes_between(x | CASE_BIT, 'a', 'z') | bytes_between(x, '0', '9') |
           bytes_between(x, '_', '_');
}

// The word text[begin, end); a longer one is written into `buffer`.
inline Word ascii_word(const uint8_t* text, size_t begin, size_t end, size_t text_length,
                       bool lowercase, std::vector<uint8_t>& buffer) {
    const size_t length = end - begin;
    if (!lowercase) {
        if (buffer.size() < length) buffer.resize(length);
        std::transform(text + begin, text + end, buffer.begin(), swap_underscore);
        return Word::of({buffer.data(), length});
    }
    if (length > Word::HELD) {
        if (buffer.size() < length) buffer.resize(length);
        for (size_t i = 0; i < length; ++i) buffer[i] = text[begin + i] | 0x20;
        return Word::pointed_at(buffer.data(), length);
    }
    if (text_length - begin >= Word::HELD) return Word::held(text + begin, length, CASE_BIT);
    uint8_t last[Word::HELD] = {};
    std::memcpy(last, text + begin, length);
    return Word::held(last, length, CASE_BIT);
}

template <class Visit>
void visit_ascii(const uint8_t* text, size_t n, bool lowercase, std::vector<uint8_t>& buffer,
                 Visit&& visit) {
    visit_runs(text, n, mark_word_bytes, [&](size_t begin, size_t end) {
        if (end - begin >= 2) visit(ascii_word(text, begin, end, n, lowercase, buffer));
    });
}

// What a character contributes to a word: itself, or in lower case ('_' as 0x7F), or 0 if it is in
// no word. Lower case is of one character only: see needs_full_lowering (text_source.h).
inline Py_UCS4 word_character(Py_UCS4 c, bool lowercase) {
    if (c == '_') return 0x7F;
    if (lowercase) c = Py_UNICODE_TOLOWER(c);
    return Py_UNICODE_ISALNUM(c) ? c : 0;
}

// The same for the characters below 0x10000, from a table: Python's own are two calls away.
inline const Py_UCS4* word_characters(bool lowercase) {
    static const auto make = [](bool lower) {
        std::vector<Py_UCS4> made(0x10000);
        for (Py_UCS4 c = 0; c < made.size(); ++c) made[c] = word_character(c, lower);
        return made;
    };
    static const std::vector<Py_UCS4> lowered = make(true), plain = make(false);
    return (lowercase ? lowered : plain).data();
}

template <class Character, class Visit>
void visit_unicode(const Character* text, size_t n, bool lowercase, std::vector<uint8_t>& buffer,
                   Visit&& visit) {
    const Py_UCS4* const table = word_characters(lowercase);
    const auto in_word = [table, lowercase](Py_UCS4 c) {
        if constexpr (sizeof(Character) == 4) {
            if (c >= 0x10000) return word_character(c, lowercase);
        }
        return table[c];
    };
    if (buffer.size() < 64) buffer.resize(64);
    // Local copies: the compiler must assume that a byte written may be part of the vector itself.
    uint8_t* bytes = buffer.data();
    size_t size = buffer.size();
    for (size_t i = 0; i < n; ++i) {
        Py_UCS4 c = in_word(text[i]);
        if (c == 0) continue;
        const size_t begin = i;
        size_t length = 0;
        do {
            if (size - length < 4) {
                buffer.resize(2 * size);
                bytes = buffer.data();
                size = buffer.size();
            }
            length += write_utf8(c, bytes + length);
            ++i;
        } while (i < n && (c = in_word(text[i])) != 0);
        if (i - begin < 2) continue;
        visit(length <= Word::HELD ? Word::held(bytes, length) : Word::pointed_at(bytes, length));
    }
}

}  // namespace splitting_detail

// Calls visit(Word) for each word, in order. The Word is valid during the call; `buffer` is
// working memory, kept from text to text. Needs no GIL: it reads only constant tables of Python.
template <class Visit>
void visit_words(const Text& text, bool lowercase, std::vector<uint8_t>& buffer, Visit&& visit) {
    using namespace splitting_detail;
    if (text.words != nullptr) {
        text.words->visit([&](Bytes word) { visit(Word::of(word)); });
        return;
    }
    switch (text.bytes_each) {
        case 0:
            return visit_ascii(static_cast<const uint8_t*>(text.characters), text.length,
                               lowercase, buffer, visit);
        case 1:
            return visit_unicode(static_cast<const Py_UCS1*>(text.characters), text.length,
                                 lowercase, buffer, visit);
        case 2:
            return visit_unicode(static_cast<const Py_UCS2*>(text.characters), text.length,
                                 lowercase, buffer, visit);
        default:
            return visit_unicode(static_cast<const Py_UCS4*>(text.characters), text.length,
                                 lowercase, buffer, visit);
    }
}

}  // namespace naively
