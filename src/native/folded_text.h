// A text as it is split: folded (`fold` of kernels/folding.py), with the kind of each character, in
// UTF-8. Kept from text to text, as working memory.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "text.h"
#include "unicode_table.h"
#include "utf8.h"
#include "word.h"

namespace naively {

class FoldedText {
  public:
    void read(const Text& text, bool lowercase) {
        switch (text.bytes_each) {
            case 0:
                return read_ascii(static_cast<const uint8_t*>(text.characters), text.length,
                                  lowercase);
            case 1:
                return fold(static_cast<const Py_UCS1*>(text.characters), text.length, lowercase);
            case 2:
                return fold(static_cast<const Py_UCS2*>(text.characters), text.length, lowercase);
            default:
                return fold(static_cast<const Py_UCS4*>(text.characters), text.length, lowercase);
        }
    }

    size_t length() const { return length_; }
    bool is_ascii() const { return ascii_; }

    // One for each character, and PADDING zeros.
    const uint8_t* kinds() const { return ascii_ && lowercase_ ? bytes_.data() : kinds_.data(); }
    static constexpr size_t PADDING = 64;

    // The UTF-8 of characters, and where that of one begins.
    const uint8_t* bytes() const { return bytes_.data(); }
    size_t start(size_t i) const { return ascii_ ? i : starts_[i]; }

    // Characters as a word, in which all apostrophes are alike; valid until the next text is read.
    Word word(size_t begin, size_t end) const {
        const std::vector<uint32_t>& starts = has_apostrophes_ ? starts_of_words_ : starts_;
        const size_t first = ascii_ ? begin : starts[begin];
        const size_t length = (ascii_ ? end : starts[end]) - first;
        const uint8_t* const from =
            (has_apostrophes_ ? bytes_of_words_ : bytes_).data() + first;
        return length <= Word::HELD ? Word::held(from, length) : Word::pointed_at(from, length);
    }

  private:
    std::vector<uint8_t> bytes_, bytes_of_words_, kinds_;
    std::vector<uint32_t> starts_, starts_of_words_;
    std::vector<CodePoint> characters_, composed_, segment_;
    size_t length_ = 0;
    bool ascii_ = true, lowercase_ = true, has_apostrophes_ = false;

    static void grow(std::vector<uint8_t>& bytes, size_t size) {
        if (bytes.size() < size + PADDING) bytes.resize(size + size / 2 + PADDING);
    }

    static void write_lower(const uint8_t* text, size_t n, uint8_t* out) {
        for (size_t i = 0; i < n; ++i)
            out[i] = static_cast<uint8_t>(
                text[i] + (static_cast<uint8_t>(text[i] - 'A') < 26 ? 0x20 : 0));
        std::memset(out + n, 0, PADDING);
    }

    void read_ascii(const uint8_t* text, size_t n, bool lowercase) {
        ascii_ = true;
        has_apostrophes_ = false;
        lowercase_ = lowercase;
        length_ = n;
        grow(bytes_, n);
        if (lowercase) return write_lower(text, n, bytes_.data());
        if (n != 0) std::memcpy(bytes_.data(), text, n);
        std::memset(bytes_.data() + n, 0, PADDING);
        grow(kinds_, n);
        write_lower(text, n, kinds_.data());
    }

    template <class Character>
    void fold(const Character* text, size_t n, bool lowercase) {
        if (n > UINT32_MAX / 16) throw std::length_error("a text is too long");
        const UnicodeTable& table = UnicodeTable::get();
        const Paged<uint32_t>& entries = table.entries(lowercase);
        ascii_ = false;
        lowercase_ = lowercase;
        if (characters_.size() < n) characters_.resize(n + n / 2);
        grow(kinds_, n);
        CodePoint* out = characters_.data();
        uint8_t* kinds = kinds_.data();
        size_t written = 0;
        uint32_t met = 0;
        for (size_t i = 0; i < n; ++i) {
            const CodePoint c = text[i];
            const uint32_t entry = entries[c];
            met |= entry;
            if ((entry & UnicodeTable::SPECIAL) == 0) {
                out[written] = c ^ (entry & UnicodeTable::CHARACTER);
                kinds[written++] = kind_of(entry);
                continue;
            }
            const uint8_t kind = kind_of(entry);
            if (kind == 'Z' || kind == 'T') {  // it stays after a pictograph
                const uint8_t last = written == 0 ? 0 : kinds[written - 1];
                if (last != 'E' && last != 'S' && last != 'T') continue;
            }
            const std::vector<CodePoint>* const many = table.many(c, lowercase);
            if (many == nullptr) {
                out[written] = c ^ (entry & UnicodeTable::CHARACTER);
                kinds[written++] = kind;
                continue;
            }
            const size_t needed = written + many->size() + (n - i);
            if (characters_.size() < needed) characters_.resize(2 * needed);
            grow(kinds_, needed);
            out = characters_.data();
            kinds = kinds_.data();
            for (const CodePoint each : *many) {
                const uint32_t of = entries[each];
                met |= of;
                out[written] = each;
                kinds[written++] = kind_of(of);
            }
        }
        length_ = written;
        if ((met & UnicodeTable::COMBINES) != 0) compose(table, entries);
        std::memset(kinds_.data() + length_, 0, PADDING);
        if (lowercase && (met & UnicodeTable::SPECIAL) != 0) end_by_sigma();
        encode(bytes_, starts_, false);
        has_apostrophes_ = false;
        for (size_t i = 0; i < length_; ++i)
            has_apostrophes_ |= kinds_[i] == '\'' && characters_[i] != '\'';
        if (has_apostrophes_) encode(bytes_of_words_, starts_of_words_, true);
    }

    static uint8_t kind_of(uint32_t entry) {
        const auto kind = static_cast<uint8_t>(entry >> UnicodeTable::KIND);
        return kind == 0 ? '?' : kind;
    }

    static constexpr size_t MARKS = 2;  // on a letter at most; more are put on

    static bool is_plain(CodePoint c) {
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    }

    static bool combines(uint8_t kind) { return kind == 'M' || kind == 'V'; }

    // NFC of the text, whose characters are those of NFC as long as each stands alone, without marks that
    // are put on (`compose` of kernels/folding.py).
    void compose(const UnicodeTable& table, const Paged<uint32_t>& entries) {
        size_t copied = 0;
        composed_.clear();
        for (size_t i = 0; i < length_; ++i) {
            if (!combines(kinds_[i])) continue;
            const size_t begin = i == 0 ? 0 : i - 1;
            size_t end = i == 0 ? 0 : i;
            bool is_composed = !is_plain(table.letter_of(characters_[begin]));
            uint8_t last = 0;
            for (; end < length_ && (end == begin || combines(kinds_[end])); ++end) {
                const CodePoint c = characters_[end];
                const uint8_t of = table.combining_class(c);
                if (table.may_compose(c) || (of != 0 && of < last)) is_composed = false;
                last = of;
            }
            i = end - 1;
            if (is_composed) continue;
            composed_.insert(composed_.end(), characters_.begin() + at(copied),
                             characters_.begin() + at(begin));
            compose_segment(table, begin, end);
            copied = end;
        }
        if (copied == 0) return;
        composed_.insert(composed_.end(), characters_.begin() + at(copied),
                         characters_.begin() + at(length_));
        length_ = composed_.size();
        if (characters_.size() < length_) characters_.resize(length_);
        grow(kinds_, length_);
        for (size_t i = 0; i < length_; ++i) {
            characters_[i] = composed_[i];
            kinds_[i] = kind_of(entries[composed_[i]]);
        }
    }

    static std::ptrdiff_t at(size_t i) { return static_cast<std::ptrdiff_t>(i); }

    // Appends the NFC of characters (Unicode Standard Annex 15).
    void compose_segment(const UnicodeTable& table, size_t begin, size_t end) {
        segment_.clear();
        for (size_t i = begin; i < end; ++i) table.decompose(characters_[i], segment_);
        for (size_t i = 0; i < segment_.size();) {
            size_t last = i;
            while (last < segment_.size() && table.combining_class(segment_[last]) != 0) ++last;
            std::stable_sort(segment_.begin() + at(i), segment_.begin() + at(last),
                             [&](CodePoint a, CodePoint b) {
                                 return table.combining_class(a) < table.combining_class(b);
                             });
            i = last + 1;
        }
        const bool plain = is_plain(segment_[0]), crowded = segment_.size() > 1 + MARKS;
        const size_t none = SIZE_MAX;
        size_t starter = none;
        uint8_t last = 0;
        for (const CodePoint c : segment_) {
            const uint8_t of = table.combining_class(c);
            const bool is_on = plain && table.is_mark(c);
            if (is_on && crowded) continue;
            const bool follows = starter != none && composed_.size() == starter + 1;
            if (starter != none && (follows || (last != 0 && last < of))) {
                const CodePoint made = table.compose(composed_[starter], c);
                if (made != 0) {
                    composed_[starter] = made;
                    continue;
                }
            }
            if (is_on && table.compose(segment_[0], c) == 0) continue;
            composed_.push_back(c);
            last = of;
            if (of == 0) starter = composed_.size() - 1;
        }
    }

    static bool in_word(uint8_t kind) {
        return (kind >= 'a' && kind <= 'z') || (kind >= '0' && kind <= '9') || kind == '_' ||
               kind == 'K' || kind == 'V' || kind == 'M';
    }

    // The small sigma has another form at the end of a word.
    void end_by_sigma() {
        for (size_t i = 0; i < length_; ++i) {
            CodePoint& c = characters_[i];
            if (c != UnicodeTable::SIGMA && c != UnicodeTable::FINAL_SIGMA) continue;
            const bool is_final = i > 0 && in_word(kinds_[i - 1]) && !in_word(kinds_[i + 1]);
            c = is_final ? UnicodeTable::FINAL_SIGMA : UnicodeTable::SIGMA;
        }
    }

    void encode(std::vector<uint8_t>& bytes, std::vector<uint32_t>& all_starts, bool as_words) {
        grow(bytes, 4 * length_);
        if (all_starts.size() < length_ + 1) all_starts.resize(length_ + length_ / 2 + 1);
        uint8_t* const begin = bytes.data();
        uint8_t* out = begin;
        uint32_t* const starts = all_starts.data();
        for (size_t i = 0; i < length_; ++i) {
            starts[i] = static_cast<uint32_t>(out - begin);
            out += write_utf8(as_words && kinds_[i] == '\'' ? '\'' : characters_[i], out);
        }
        starts[length_] = static_cast<uint32_t>(out - begin);
        std::memset(out, 0, Word::HELD);
    }
};

}  // namespace naively
