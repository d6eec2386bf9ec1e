// Character n-grams as scikit-learn's CountVectorizer finds them: over a whole text, in which two
// or more white spaces are one ("char"), or within each word and the space before and after it
// ("char_wb").
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "folded_text.h"
#include "word.h"

namespace naively {

// One text's characters, ready to be cut into n-grams. Kept from text to text.
class CharacterNGrams {
  public:
    void read(const FoldedText& text, bool within_words) {
        within_words_ = within_words;
        single_bytes_ = text.is_ascii();
        const size_t n = text.length();
        // Within words there may be a space more, where the text ends; of each there was one.
        if (bytes_.size() < n + 2 + Word::HELD) bytes_.resize(n + n / 2 + 64);
        starts_.clear();
        spaces_.clear();
        length_ = 0;
        uint8_t* out = bytes_.data();
        const uint8_t *const bytes = text.bytes(), *const kinds = text.kinds();
        const auto write_space = [&] {
            if (!single_bytes_) starts_.push_back(static_cast<uint32_t>(out - bytes_.data()));
            if (within_words_) spaces_.push_back(length_);
            *out++ = ' ';
            ++length_;
        };
        const auto write = [&](size_t begin, size_t end) {
            const size_t first = static_cast<size_t>(out - bytes_.data());
            for (size_t i = begin; !single_bytes_ && i < end; ++i)
                if (!goes_on(bytes[i])) starts_.push_back(static_cast<uint32_t>(first + i - begin));
            std::memcpy(out, bytes + begin, end - begin);
            out += end - begin;
            length_ = single_bytes_ ? length_ + end - begin : starts_.size();
        };
        if (within_words_ && n != 0) write_space();
        for (size_t i = 0; i < n;) {
            const size_t begin = i;
            if (!is_space(kinds[i])) {
                while (i < n && !is_space(kinds[i])) ++i;
                write(begin, i);
                continue;
            }
            while (i < n && is_space(kinds[i])) ++i;
            if (within_words_ ? spaces_.back() + 1 != length_ : i - begin > utf8_size(bytes[begin]))
                write_space();
            else if (!within_words_)
                write(begin, i);
        }
        if (within_words_ && n != 0 && spaces_.back() + 1 != length_) write_space();
        if (!single_bytes_) starts_.push_back(static_cast<uint32_t>(out - bytes_.data()));
        std::memset(out, 0, Word::HELD);
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

    static bool is_space(uint8_t kind) {
        return kind == ' ' || (kind >= '\t' && kind <= '\r') || (kind >= 0x1C && kind <= 0x1F);
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
