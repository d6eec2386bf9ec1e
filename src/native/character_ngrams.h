// Character n-grams as scikit-learn's CountVectorizer finds them: over a whole text, in which two
// or more white spaces are one ("char"), or within each word and the space before and after it
// ("char_wb").
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "text.h"
#include "utf8.h"
#include "word.h"

namespace naively {

// One text's characters as Word has them, ready to be cut into n-grams. Kept from text to text.
class CharacterNGrams {
  public:
    void read(const Text& text, bool lowercase, bool within_words) {
        within_words_ = within_words;
        const auto read_characters = [&](auto character) {
            using Character = decltype(character);
            read_as(static_cast<const Character*>(text.characters), text.length, lowercase);
        };
        switch (text.bytes_each) {
            case 0:
            case 1: return read_characters(Py_UCS1{});
            case 2: return read_characters(Py_UCS2{});
            default: return read_characters(Py_UCS4{});
        }
    }

    // Calls visit(Word) for each n-gram of `low` to `high` characters. The Word is valid until the
    // next text is read.
    template <class Visit>
    void visit(size_t low, size_t high, Visit&& visit) const {
        if (!within_words_) return visit_windows(0, length_, low, high, visit);
        for (size_t i = 0; i + 1 < spaces_.size(); ++i) {
            const size_t begin = spaces_[i], end = spaces_[i + 1] + 1;
            if (low > end - begin)
                visit(ngram(begin, end));
            else
                visit_windows(begin, end, low, high, visit);
        }
    }

  private:
    std::vector<uint8_t> bytes_;     // 16 more than there are, as Word::held reads so many
    std::vector<uint32_t> starts_;   // of each character, and the end; only if one has many bytes
    std::vector<size_t> spaces_;     // within words: which characters are spaces
    size_t length_ = 0;
    bool within_words_ = false, single_bytes_ = true;

    static constexpr Py_UCS4 SPACE = 0x80000000;

    // A character in lower case, with a mark on white space.
    static Py_UCS4 character(Py_UCS4 c, bool lowercase) {
        if (lowercase) c = Py_UNICODE_TOLOWER(c);
        return Py_UNICODE_ISSPACE(c) ? c | SPACE : c;
    }

    static const Py_UCS4* characters(bool lowercase) {
        static const auto make = [](bool lower) {
            std::vector<Py_UCS4> made(0x10000);
            for (Py_UCS4 c = 0; c < made.size(); ++c) made[c] = character(c, lower);
            return made;
        };
        static const std::vector<Py_UCS4> lowered = make(true), plain = make(false);
        return (lowercase ? lowered : plain).data();
    }

    template <class Character>
    void read_as(const Character* text, size_t n, bool lowercase) {
        constexpr size_t most = sizeof(Character) == 1 ? 2 : sizeof(Character) == 2 ? 3 : 4;
        if (n > UINT32_MAX / most - 64) throw std::length_error("a text is too long");
        if (bytes_.size() < most * n + 64) bytes_.resize(most * n + 64);
        const Py_UCS4* const table = characters(lowercase);
        uint8_t* out = bytes_.data();
        starts_.clear();
        spaces_.clear();
        length_ = 0;
        single_bytes_ = true;
        const auto write = [&](Py_UCS4 c) {
            c = c == '_' ? 0x7F : c == 0x7F ? '_' : c;
            if (c >= 0x80 && single_bytes_) {
                single_bytes_ = false;
                for (uint32_t i = 0; i < length_; ++i) starts_.push_back(i);
            }
            if (!single_bytes_) starts_.push_back(static_cast<uint32_t>(out - bytes_.data()));
            out += write_utf8(c, out);
            ++length_;
        };
        const auto write_space = [&] {
            if (within_words_) spaces_.push_back(length_);
            write(' ');
        };
        if (within_words_ && n != 0) write_space();
        for (size_t i = 0; i < n; ++i) {
            Py_UCS4 c;
            if constexpr (sizeof(Character) == 4)
                c = text[i] < 0x10000 ? table[text[i]] : character(text[i], lowercase);
            else
                c = table[text[i]];
            if ((c & SPACE) == 0) {
                write(c);
                continue;
            }
            const size_t first = i;
            while (i + 1 < n && Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(text[i + 1]))) ++i;
            if (!within_words_)
                write(i == first ? c & ~SPACE : ' ');
            else if (spaces_.back() + 1 != length_)
                write_space();
        }
        if (within_words_ && n != 0 && spaces_.back() + 1 != length_) write_space();
        if (!single_bytes_) starts_.push_back(static_cast<uint32_t>(out - bytes_.data()));
        std::memset(out, 0, Word::HELD);
    }

    Word ngram(size_t begin, size_t end) const {
        const size_t first = single_bytes_ ? begin : starts_[begin];
        const size_t length = (single_bytes_ ? end : starts_[end]) - first;
        const uint8_t* bytes = bytes_.data() + first;
        return length <= Word::HELD ? Word::held(bytes, length) : Word::pointed_at(bytes, length);
    }

    template <class Visit>
    void visit_windows(size_t begin, size_t end, size_t low, size_t high, Visit&& visit) const {
        high = std::min(high, end - begin);
        for (size_t n = low; n <= high; ++n)
            for (size_t i = begin; i + n <= end; ++i) visit(ngram(i, i + n));
    }
};

}  // namespace naively
