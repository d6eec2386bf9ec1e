// A text as it is split: folded (`fold` of kernels/folding.py), with the kind of each character, in
// UTF-8. Kept from text to text, as working memory.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "byte_runs.h"
#include "text.h"
#include "unicode_table.h"
#include "utf8.h"
#include "word.h"

namespace naively {

class FoldedText {
  public:
    // For words, all apostrophes are alike.
    void read(const Text& text, bool lowercase, bool for_words) {
        ascii_ = text.ascii;
        lowercase_ = lowercase;
        if (ascii_) return read_ascii(text.utf8, text.length);
        for_words_ = for_words;
        fold(text.utf8, text.length);
    }

    size_t length() const { return length_; }
    bool is_ascii() const { return ascii_; }
    bool has_syllables() const { return (met_ & UnicodeTable::IS_SYLLABLE) != 0; }  // of Korean

    // The text in UTF-8, the kind of the character that each byte is of, and PADDING zeros after both.
    const uint8_t* bytes() const { return bytes_.data(); }
    const uint8_t* kinds() const { return ascii_ && lowercase_ ? bytes_.data() : kinds_.data(); }
    static constexpr size_t PADDING = 64;

    // Bytes as a word; valid until the next text is read.
    Word word(size_t begin, size_t end) const {
        const size_t length = end - begin;
        const uint8_t* const from = bytes_.data() + begin;
        return length <= Word::HELD ? Word::held(from, length) : Word::pointed_at(from, length);
    }

  private:
    std::vector<uint8_t> bytes_, kinds_, bytes_before_, kinds_before_;
    std::vector<CodePoint> composed_, segment_;
    size_t length_ = 0;
    uint32_t met_ = 0;  // the flags of characters that are not ASCII
    bool ascii_ = true, lowercase_ = true, for_words_ = true;

    static void grow(std::vector<uint8_t>& bytes, size_t size) {
        if (bytes.size() < size + PADDING) bytes.resize(size + size / 2 + PADDING);
    }
    void make_room(size_t more) {
        grow(bytes_, length_ + more);
        grow(kinds_, length_ + more);
    }

    static void write_lower(const uint8_t* text, size_t n, uint8_t* out) {
        for (size_t i = 0; i < n; ++i)
            out[i] = static_cast<uint8_t>(
                text[i] + (static_cast<uint8_t>(text[i] - 'A') < 26 ? 0x20 : 0));
    }

    void read_ascii(const uint8_t* text, size_t n) {
        length_ = n;
        grow(bytes_, n);
        std::memset(bytes_.data() + n, 0, PADDING);
        if (lowercase_) return write_lower(text, n, bytes_.data());
        if (n != 0) std::memcpy(bytes_.data(), text, n);
        grow(kinds_, n);
        std::memset(kinds_.data() + n, 0, PADDING);
        write_lower(text, n, kinds_.data());
    }

    void fold(const uint8_t* text, size_t n) {
        if (n > UINT32_MAX / 16) throw std::length_error("a text is too long");
        const UnicodeTable& table = UnicodeTable::get();
        const Paged<uint32_t>& entries = table.entries(lowercase_);
        length_ = met_ = 0;
        for (size_t i = 0; i < n;) i += fold_block(table, entries, text + i, n - i);
        if ((met_ & UnicodeTable::COMBINES) != 0) compose(table, entries);
        std::memset(bytes_.data() + length_, 0, PADDING);
        std::memset(kinds_.data() + length_, 0, PADDING);
        if ((met_ & UnicodeTable::IS_SIGMA) != 0) end_by_sigma();
    }

    // Folds the next characters of a text, n bytes of which are left; returns how many bytes they have.
    // A block of bytes is written as if it were ASCII, and then the other characters over it, up to one
    // that may become one of another length.
    size_t fold_block(const UnicodeTable& table, const Paged<uint32_t>& entries, const uint8_t* text,
                      size_t n) {
        constexpr size_t BLOCK = 64;
        uint8_t last[BLOCK] = {};
        const auto* const block =
            n >= BLOCK ? text : static_cast<const uint8_t*>(std::memcpy(last, text, n));
        make_room(n);
        uint8_t* const out = bytes_.data() + length_;
        uint8_t* const kinds = kinds_.data() + length_;
        write_lower(block, BLOCK, kinds);
        std::memcpy(out, lowercase_ ? kinds : block, BLOCK);
        uint64_t begins = bits_of(block, [](const auto& x) { return x & (x + x); });
        size_t done = std::min(BLOCK, n);
        if (begins != 0) {
            const auto last_begin = static_cast<size_t>(63 - __builtin_clzll(begins));
            done = std::max(done, last_begin + utf8_size(text[last_begin]));
        }
        uint32_t found = 0;  // in a register, which a member is not
        const UnicodeTable::Pair* const pairs = table.pairs(lowercase_).data();
        for (; begins != 0; begins &= begins - 1) {
            const auto at = static_cast<size_t>(__builtin_ctzll(begins));
            const uint8_t* const from = text + at;
            if (from[0] < 0xE0) {
                const UnicodeTable::Pair pair = pairs[UnicodeTable::place_of_pair(from)];
                std::memcpy(out + at, pair.bytes.data(), 2);
                std::memcpy(kinds + at, pair.kinds.data(), 2);
                found |= pair.flags;
                if ((pair.flags & UnicodeTable::SPECIAL) == 0) continue;
            } else {
                const CodePoint c = read_utf8(from);
                const uint32_t entry = entries[c];
                found |= entry;
                if ((entry & UnicodeTable::SPECIAL) == 0) {
                    const size_t size = write_utf8(c ^ (entry & UnicodeTable::CHARACTER), out + at);
                    for (const size_t i : {size_t{0}, size_t{1}, size - 2, size - 1})
                        kinds[at + i] = kind_of(entry);
                    continue;
                }
            }
            met_ |= found;
            length_ += at;
            size_t next = at;
            CodePoint c = read_utf8(from);
            do {
                append_special(table, entries, c);
                next += utf8_size(text[next]);
                c = next < n ? read_utf8(text + next) : 0;
            } while ((entries[c] & UnicodeTable::SPECIAL) != 0);
            return next;
        }
        length_ += done;
        met_ |= found;
        return done;
    }

    void append_special(const UnicodeTable& table, const Paged<uint32_t>& entries, CodePoint c) {
        const uint32_t entry = entries[c];
        const uint8_t kind = kind_of(entry);
        if (kind == 'Z' || kind == 'T') {  // it stays after a pictograph
            const uint8_t before = length_ == 0 ? 0 : kinds_[length_ - 1];
            if (before != 'E' && before != 'S' && before != 'T') return;
        }
        if (kind != 0) return append(c ^ (entry & UnicodeTable::CHARACTER), entry);
        for (const CodePoint each : table.many(c, lowercase_)) append(each, entries[each]);
    }

    // Appends a character of which the entry tells the kind.
    void append(CodePoint c, uint32_t entry) {
        const uint8_t kind = kind_of(entry);
        met_ |= entry;
        make_room(4);
        const size_t size = write_utf8(for_words_ && kind == '\'' ? '\'' : c, bytes_.data() + length_);
        std::memset(kinds_.data() + length_, kind, 4);
        length_ += size;
    }

    static uint8_t kind_of(uint32_t entry) { return static_cast<uint8_t>(entry >> UnicodeTable::KIND); }

    static constexpr size_t MARKS = 2;  // on a letter at most; more are put on

    static bool is_plain(CodePoint c) {
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    }

    static bool combines(uint8_t kind) { return kind == 'M' || kind == 'V'; }

    // NFC of the text, whose characters are those of NFC as long as each stands alone, without marks that
    // are put on (`compose` of kernels/folding.py).
    void compose(const UnicodeTable& table, const Paged<uint32_t>& entries) {
        std::swap(bytes_, bytes_before_);
        std::swap(kinds_, kinds_before_);
        const uint8_t *const bytes = bytes_before_.data(), *const kinds = kinds_before_.data();
        const size_t n = std::exchange(length_, 0);
        size_t copied = 0;
        const auto copy = [&](size_t end) {
            make_room(end - copied);
            std::copy(bytes + copied, bytes + end, bytes_.data() + length_);
            std::copy(kinds + copied, kinds + end, kinds_.data() + length_);
            length_ += end - copied;
        };
        for (size_t i = 0; i < n; ++i) {
            if (!combines(kinds[i])) continue;
            size_t begin = i == 0 ? 0 : i - 1, end = i;
            while (goes_on(bytes[begin])) --begin;
            bool is_composed = !is_plain(table.letter_of(read_utf8(bytes + begin)));
            uint8_t last = 0;
            for (; end < n && combines(kinds[end]); end += utf8_size(bytes[end])) {
                const CodePoint c = read_utf8(bytes + end);
                const uint8_t of = table.combining_class(c);
                if (table.may_compose(c) || (of != 0 && of < last)) is_composed = false;
                last = of;
            }
            i = end - 1;
            if (is_composed) continue;
            copy(begin);
            compose_segment(table, bytes + begin, bytes + end);
            for (const CodePoint c : composed_) append(c, entries[c]);
            copied = end;
        }
        copy(n);
    }

    static std::ptrdiff_t at(size_t i) { return static_cast<std::ptrdiff_t>(i); }

    // Finds the NFC of characters (Unicode Standard Annex 15).
    void compose_segment(const UnicodeTable& table, const uint8_t* begin, const uint8_t* end) {
        segment_.clear();
        composed_.clear();
        for (; begin < end; begin += utf8_size(*begin)) table.decompose(read_utf8(begin), segment_);
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

    // The small sigma, whose second byte is 0x83, has another form at the end of a word.
    void end_by_sigma() {
        uint8_t* const bytes = bytes_.data();
        for (size_t i = 0, n = length_; i < n; ++i) {
            if (((bytes[i] ^ 0xCF) | ((bytes[i + 1] | 1) ^ 0x83)) != 0) continue;
            const bool is_final = i > 0 && in_word(kinds_[i - 1]) && !in_word(kinds_[i + 2]);
            bytes[i + 1] = is_final ? 0x82 : 0x83;
        }
    }
};

}  // namespace naively
