// The table of kernels/unicode.txt, spread out by code point: what each character is folded to, and of
// what kind it is (kernels/folding.py says which kinds there are).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "utf8.h"

namespace naively {

using CodePoint = uint32_t;

// A value for each code point, 0 for most, in pages of 256; pages that are alike are kept once.
template <class T>
class Paged {
  public:
    static constexpr size_t PAGE = 256, PAGES = 0x110000 / PAGE;

    T operator[](CodePoint c) const { return values_[(size_t{page_[c / PAGE]} * PAGE) + c % PAGE]; }

    // Makes the pages from a value for each code point.
    void fill(const std::vector<T>& all) {
        std::map<std::vector<T>, uint16_t> known;
        for (size_t i = 0; i < PAGES; ++i) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * PAGE);
            const std::vector<T> page(begin, begin + PAGE);
            const auto [at, is_new] = known.emplace(page, static_cast<uint16_t>(known.size()));
            if (is_new) values_.insert(values_.end(), page.begin(), page.end());
            page_[i] = at->second;
        }
    }

  private:
    std::array<uint16_t, PAGES> page_{};
    std::vector<T> values_;
};

class UnicodeTable {
  public:
    // Of each character: the exclusive or with what it becomes, flags, and the kind of what it becomes.
    static constexpr uint32_t CHARACTER = (1u << 21) - 1;
    // It becomes none, or many, or one of another length in UTF-8, or that depends.
    static constexpr uint32_t SPECIAL = 1u << 21;
    static constexpr uint32_t COMBINES = 1u << 22;
    static constexpr uint32_t IS_SIGMA = 1u << 23;
    static constexpr uint32_t IS_SYLLABLE = 1u << 24;  // of Korean
    static constexpr int KIND = 25;

    // The table in use, which is read once from the text of the file.
    static const UnicodeTable& get() { return *instance(); }
    static bool is_read() { return instance() != nullptr; }
    static void read(const std::string& text) {
        if (!is_read()) instance().reset(new UnicodeTable(text));
    }

    const Paged<uint32_t>& entries(bool lowercase) const { return lowercase ? lower_ : plain_; }

    // Of a character of two bytes in UTF-8: the bytes that it becomes, the kind of each, and its flags.
    struct Pair {
        std::array<uint8_t, 2> bytes, kinds;
        uint32_t flags;
    };
    using Pairs = std::vector<Pair>;  // by the bits that tell such a character from others
    const Pairs& pairs(bool lowercase) const { return lowercase ? lower_pairs_ : plain_pairs_; }
    static size_t place_of_pair(const uint8_t* utf8) {
        return (size_t{utf8[0]} << 8 | utf8[1]) & 0x1F3F;
    }

    // What a special character becomes that has no kind.
    const std::vector<CodePoint>& many(CodePoint c, bool lowercase) const {
        return (lowercase ? many_lower_ : many_).at(c);
    }

    bool is_mark(CodePoint c) const { return plain_[c] >> KIND == 'M'; }
    uint8_t combining_class(CodePoint c) const { return classes_[c]; }
    bool may_compose(CodePoint c) const { return second_.count(c) != 0 || is_second_jamo(c); }

    // Appends the canonical decomposition of a character that NFC leaves as it is.
    void decompose(CodePoint c, std::vector<CodePoint>& out) const {
        const CodePoint place = c - HANGUL;
        if (place < SYLLABLES) {
            out.push_back(LEADING + place / (VOWELS * TRAILINGS));
            out.push_back(VOWEL + place / TRAILINGS % VOWELS);
            if (place % TRAILINGS != 0) out.push_back(TRAILING + place % TRAILINGS);
            return;
        }
        const auto pair = parts_.find(c);
        if (pair == parts_.end()) return out.push_back(c);
        decompose(pair->second.first, out);
        out.push_back(pair->second.second);
    }

    // What the decomposition of a character begins with.
    CodePoint letter_of(CodePoint c) const {
        for (auto pair = parts_.find(c); pair != parts_.end(); pair = parts_.find(c)) c = pair->second.first;
        return c;
    }

    // The character that two are composed to, or 0.
    CodePoint compose(CodePoint first, CodePoint second) const {
        if (first - LEADING < LEADINGS && second - VOWEL < VOWELS)
            return HANGUL + ((first - LEADING) * VOWELS + (second - VOWEL)) * TRAILINGS;
        if (first - HANGUL < SYLLABLES && (first - HANGUL) % TRAILINGS == 0 &&
            second - TRAILING - 1 < TRAILINGS - 1)
            return first + (second - TRAILING);
        const auto found = composed_.find(uint64_t{first} << 32 | second);
        return found == composed_.end() ? 0 : found->second;
    }

  private:
    static constexpr size_t SIZE = 0x110000;
    static constexpr CodePoint HANGUL = 0xAC00, LEADING = 0x1100, VOWEL = 0x1161, TRAILING = 0x11A7;
    static constexpr CodePoint SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2;
    static constexpr CodePoint LEADINGS = 19, VOWELS = 21, TRAILINGS = 28;
    static constexpr CodePoint SYLLABLES = LEADINGS * VOWELS * TRAILINGS;

    Paged<uint32_t> plain_, lower_;
    Pairs plain_pairs_, lower_pairs_;
    Paged<uint8_t> classes_;
    std::unordered_map<CodePoint, std::vector<CodePoint>> many_, many_lower_;
    std::unordered_map<uint64_t, CodePoint> composed_;
    std::unordered_map<CodePoint, std::pair<CodePoint, CodePoint>> parts_;
    std::unordered_set<CodePoint> second_;

    static std::unique_ptr<UnicodeTable>& instance() {
        static std::unique_ptr<UnicodeTable> table;
        return table;
    }

    static bool is_second_jamo(CodePoint c) {
        return c - VOWEL < VOWELS || c - TRAILING - 1 < TRAILINGS - 1;
    }

    explicit UnicodeTable(const std::string& text) {
        std::unordered_map<CodePoint, CodePoint> lower;
        std::vector<std::pair<CodePoint, std::vector<CodePoint>>> folded;
        std::vector<uint8_t> kinds(SIZE, '?'), classes(SIZE);
        std::vector<uint32_t> plain_entries(SIZE), lower_entries(SIZE);
        std::istringstream lines(text);
        std::string line, name;
        while (std::getline(lines, line)) {
            std::istringstream words(line);
            words >> name;
            std::vector<int64_t> numbers;
            for (int64_t number; words >> number;) numbers.push_back(number);
            if (name.rfind("kind:", 0) == 0)
                fill_ranges(kinds, numbers, static_cast<uint8_t>(name[5]));
            else if (name == "space")
                fill_ranges(kinds, numbers, ' ');
            else if (name == "lower")
                read_lower(numbers, lower);
            else if (name == "fold")
                read_folded(numbers, folded);
            else if (name == "combining")
                read_classes(numbers, classes);
            else if (name == "compose")
                read_composed(numbers);
        }
        for (CodePoint c = 0; c < 0x80; ++c)
            kinds[c] = static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        const auto lowered = [&](CodePoint c) {
            const auto found = lower.find(c);
            return found == lower.end() ? c : found->second;
        };
        const auto put = [&](std::vector<uint32_t>& entries, CodePoint c, CodePoint to) {
            const uint8_t kind = kinds[to];
            uint32_t flags = static_cast<uint32_t>(kind) << KIND;
            if (kind == 'M' || kind == 'V') flags |= COMBINES;
            if (kind == 'K') flags |= IS_SYLLABLE;
            if (kind == 'Z' || kind == 'T' || kind == '\'' || utf8_size(c) != utf8_size(to))
                flags |= SPECIAL;
            if (&entries == &lower_entries && (to == SIGMA || to == FINAL_SIGMA)) flags |= IS_SIGMA;
            entries[c] = (c ^ to) | flags;
        };
        for (CodePoint c = 0; c < SIZE; ++c) {
            put(plain_entries, c, c);
            put(lower_entries, c, c);
        }
        for (const auto& [c, small] : lower) put(lower_entries, c, small);
        for (const auto& [c, to] : folded) {
            if (to.size() == 1) {
                put(plain_entries, c, to[0]);
                put(lower_entries, c, lowered(to[0]));
                continue;
            }
            std::vector<CodePoint> small = to;
            for (CodePoint& each : small) each = lowered(each);
            plain_entries[c] = lower_entries[c] = SPECIAL;
            many_[c] = to;
            many_lower_[c] = small;
        }
        plain_.fill(plain_entries);
        lower_.fill(lower_entries);
        plain_pairs_ = pairs_of(plain_entries);
        lower_pairs_ = pairs_of(lower_entries);
        classes_.fill(classes);
    }

    static Pairs pairs_of(const std::vector<uint32_t>& entries) {
        Pairs pairs(0x2000);
        for (CodePoint c = 0x80; c < 0x800; ++c) {
            uint8_t from[4], to[4];
            write_utf8(c, from);
            write_utf8(c ^ (entries[c] & CHARACTER), to);
            const auto kind = static_cast<uint8_t>(entries[c] >> KIND);
            pairs[place_of_pair(from)] = {{to[0], to[1]}, {kind, kind}, entries[c] & ~CHARACTER};
        }
        return pairs;
    }

    static void fill_ranges(std::vector<uint8_t>& kinds, const std::vector<int64_t>& numbers, uint8_t kind) {
        size_t at = 0;
        for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
            at += static_cast<size_t>(numbers[i]);
            const auto length = static_cast<size_t>(numbers[i + 1]);
            std::fill_n(kinds.begin() + static_cast<std::ptrdiff_t>(at), length, kind);
            at += length;
        }
    }

    static void read_lower(const std::vector<int64_t>& numbers,
                           std::unordered_map<CodePoint, CodePoint>& lower) {
        int64_t at = 0;
        for (size_t i = 0; i + 3 < numbers.size(); i += 4) {
            at += numbers[i];
            for (int64_t j = 0; j < numbers[i + 1]; ++j, at += numbers[i + 2])
                lower[static_cast<CodePoint>(at)] = static_cast<CodePoint>(at + numbers[i + 3]);
            at += 1 - numbers[i + 2];
        }
    }

    static void read_folded(const std::vector<int64_t>& numbers,
                            std::vector<std::pair<CodePoint, std::vector<CodePoint>>>& folded) {
        CodePoint at = 0;
        for (size_t i = 0; i + 1 < numbers.size();) {
            at += static_cast<CodePoint>(numbers[i++]);
            auto& to = folded.emplace_back(at, std::vector<CodePoint>()).second;
            for (int64_t left = numbers[i++]; left > 0; --left)
                to.push_back(static_cast<CodePoint>(numbers[i++]));
        }
    }

    static void read_classes(const std::vector<int64_t>& numbers, std::vector<uint8_t>& classes) {
        size_t at = 0;
        for (size_t i = 0; i + 2 < numbers.size(); i += 3) {
            at += static_cast<size_t>(numbers[i]);
            const auto length = static_cast<size_t>(numbers[i + 1]);
            std::fill_n(classes.begin() + static_cast<std::ptrdiff_t>(at), length,
                        static_cast<uint8_t>(numbers[i + 2]));
            at += length;
        }
    }

    void read_composed(const std::vector<int64_t>& numbers) {
        CodePoint first = 0;
        for (size_t i = 0; i + 2 < numbers.size(); i += 3) {
            first += static_cast<CodePoint>(numbers[i]);
            const auto second = static_cast<CodePoint>(numbers[i + 1]);
            const auto made = static_cast<CodePoint>(numbers[i + 2]);
            composed_[uint64_t{first} << 32 | second] = made;
            parts_[made] = {first, second};
            second_.insert(second);
        }
    }
};

}  // namespace naively
