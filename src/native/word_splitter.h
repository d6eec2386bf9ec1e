// The words of a folded text, as the expression TOKEN of kernels/tokens.py finds them among the kinds
// of its characters. Each rule here has the name that it has there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "byte_runs.h"
#include "folded_text.h"

namespace naively {

namespace splitting_detail {

enum : uint8_t {
    BEGINS = 1, GOES_ON = 2, DIGIT = 4, OTHER = 8, NOSE = 16, MOUTH = 32, LETTER_MOUTH = 64, LINKS = 128
};

// What a character of a kind may be part of.
constexpr std::array<uint8_t, 256> roles() {
    std::array<uint8_t, 256> made{};
    for (int c = 'a'; c <= 'z'; ++c) made[static_cast<size_t>(c)] = BEGINS | GOES_ON;
    for (int c = '0'; c <= '9'; ++c) made[static_cast<size_t>(c)] = BEGINS | GOES_ON | DIGIT;
    for (const char c : {'_', 'K', 'V'}) made[static_cast<size_t>(c)] = BEGINS | GOES_ON;
    made['M'] = GOES_ON;
    for (const char c : {'#', '@', ':', ';', '=', '<', '>', '^', '-', 'E', 'R', 'H'})
        made[static_cast<size_t>(c)] |= OTHER;
    for (const char c : {'-', 'o', '\'', '^'}) made[static_cast<size_t>(c)] |= NOSE;
    for (const char c : {')', '(', ']', '[', '}', '{', '@', '|', '/', '\\', '*'})
        made[static_cast<size_t>(c)] |= MOUTH;
    for (const char c : {'d', 'p', 'o', 'x', '3'}) made[static_cast<size_t>(c)] |= LETTER_MOUTH;
    for (const char c : {'\'', '.', ',', '+', '#', '/'}) made[static_cast<size_t>(c)] |= LINKS;
    return made;
}
constexpr std::array<uint8_t, 256> ROLES = roles();

// Sets bit 7 of each byte that is of a word; all are ASCII, none a capital letter.
template <class Block>
NAIVELY_INLINE inline Block mark_word_bytes(const Block& x) {
    return bytes_between(x, 'a', 'z') | bytes_between(x, '0', '9') | bytes_between(x, '_', '_');
}

// The same of the kinds of any characters, all ASCII too.
template <class Block>
NAIVELY_INLINE inline Block mark_word_kinds(const Block& x) {
    return mark_word_bytes(x) | bytes_between(x, 'K', 'K') | bytes_between(x, 'M', 'M') |
           bytes_between(x, 'V', 'V');
}

// The rules, over the bytes of a folded text and their kinds, which zeros follow.
struct Rules {
    const uint8_t *bytes, *kinds;

    bool is(size_t i, uint8_t role) const { return (ROLES[kinds[i]] & role) != 0; }
    bool is_before(size_t i, uint8_t role) const { return i > 0 && is(i - 1, role); }
    bool has(size_t i, uint8_t kind) const { return kinds[i] == kind; }

    size_t after(size_t i) const {  // a character
        do ++i;
        while (goes_on(bytes[i]));
        return i;
    }

    size_t word(size_t i) const {
        while (is(i, GOES_ON)) ++i;
        return i;
    }

    // Where the token ends that begins with a word [begin, end).
    NAIVELY_INLINE size_t end_of_word(size_t begin, size_t end) const {
        return is(end, LINKS) || is_before(begin, LINKS) ? end_of_linked(begin, end) : end;
    }

    // The same of a word that a character which may link it stands beside.
    size_t end_of_linked(size_t begin, size_t end) const {
        if (begin > 0 && (has(begin - 1, '/') || has(begin - 1, '.'))) {
            const size_t end_of_host = host(begin);
            if (end_of_host != 0) return end_of_host;
        }
        const uint8_t next = kinds[end];
        if (next == '#') {
            const bool one = end == after(begin) && kinds[begin] >= 'a' && kinds[begin] <= 'z';
            return one && !is(end + 1, GOES_ON) && !has(end + 1, '#') ? end + 1 : end;
        }
        if (next == '.' || next == ',') return number(begin, end);
        while (has(end, '\'') && is(end + 1, BEGINS)) end = word(end + 1);
        if (has(end, '+') && has(end + 1, '+') && !is(end + 2, GOES_ON) && !has(end + 2, '+'))
            return end + 2;
        return end;
    }

    size_t number(size_t begin, size_t end) const {
        for (size_t i = begin; i < end; ++i)
            if (!is(i, DIGIT)) return end;
        while ((has(end, '.') || has(end, ',')) && is(end + 1, DIGIT)) {
            size_t next = end + 1;
            while (is(next, DIGIT)) ++next;
            if (is(next, GOES_ON)) break;
            end = next;
        }
        return end;
    }

    bool is_www(size_t i) const { return has(i, 'w') && has(i + 1, 'w') && has(i + 2, 'w'); }

    size_t end_of_label(size_t i) const {
        while (is(i, GOES_ON) || has(i, '-')) ++i;
        return i;
    }

    // 0 if no host begins here.
    size_t host(size_t begin) const {
        const bool after_scheme = begin >= 3 && has(begin - 1, '/') && has(begin - 2, '/') &&
                                  has(begin - 3, ':') && !(is_www(begin) && has(begin + 3, '.'));
        const bool after_www = begin >= 4 && has(begin - 1, '.') && is_www(begin - 4) &&
                               !is_before(begin - 4, GOES_ON);
        if (!after_scheme && !after_www) return 0;
        size_t end = end_of_label(begin);
        bool has_dot = false;
        for (; has(end, '.') && is(end + 1, BEGINS); has_dot = true) end = end_of_label(end + 1);
        return has_dot ? end : 0;
    }

    // Where a token ends that does not begin with a word; `begin` if there is none.
    size_t end_of_other(size_t begin) const {
        switch (kinds[begin]) {
            case '#':
                return is_before(begin, GOES_ON) || (begin > 0 && has(begin - 1, '&'))
                           ? begin : tagged(begin);
            case '@':
                return is_before(begin, GOES_ON) || (begin > 0 && has(begin - 1, '.'))
                           ? begin : tagged(begin);
            case 'E': return emoji(begin);
            case 'R': return has(after(begin), 'R') ? after(after(begin)) : after(begin);
            case '^': return between(begin, '^', 0);
            case '-': return between(begin, '-', 1);
            case '<':
                if (const size_t at = begin + (has(begin + 1, '/') ? 2 : 1);
                    has(at, '3') && !is(at + 1, GOES_ON))
                    return at + 1;
                return smiley(begin, begin + 1);
            case '>': return smiley(begin, begin + 1);
            default: return smiley(begin, begin);
        }
    }

    size_t tagged(size_t begin) const {
        return is(begin + 1, BEGINS) ? word(begin + 1) : begin;
    }

    size_t skin(size_t i) const {
        while (has(i, 'S') || has(i, 'T')) ++i;
        return i;
    }

    size_t emoji(size_t begin) const {
        size_t end = skin(after(begin));
        while (has(end, 'Z') && has(after(end), 'E')) end = skin(after(after(end)));
        return end;
    }

    // Such as ^_^ and -_-: a character, `least` underscores or more, and the character again.
    size_t between(size_t begin, uint8_t kind, size_t least) const {
        size_t end = begin + 1;
        while (has(end, '_')) ++end;
        return end > begin + least && has(end, kind) ? end + 1 : begin;
    }

    size_t smiley(size_t begin, size_t eyes) const {
        if (!has(eyes, ':') && !has(eyes, ';') && !has(eyes, '=')) return begin;
        const bool has_nose = is(eyes + 1, NOSE);
        if (!is_before(begin, GOES_ON)) {
            for (size_t mouth = eyes + (has_nose ? 2 : 1); mouth > eyes; --mouth)
                if (is(mouth, LETTER_MOUTH) && !is(mouth + 1, GOES_ON)) return mouth + 1;
        }
        const size_t mouth = eyes + (has_nose ? 2 : 1);
        return is(mouth, MOUTH) && !is(mouth + 1, GOES_ON) && !has(mouth + 1, '/') ? mouth + 1
                                                                                  : begin;
    }
};

// Visits the characters of a script without spaces, each with its marks, and their pairs; returns where
// they end.
template <class Visit>
size_t visit_unspaced(const Rules& rules, size_t begin, Visit&& visit) {
    const auto end_of_character = [&](size_t i) {
        i = rules.after(i);
        while (rules.has(i, 'M')) ++i;
        return i;
    };
    size_t end = end_of_character(begin);
    const bool alone = !rules.has(end, 'H');
    while (rules.has(end, 'H')) {
        visit(begin, end, true);
        const size_t next = end;
        end = end_of_character(next);
        visit(begin, end, false);
        begin = next;
    }
    visit(begin, end, !alone);
    return end;
}

// Visits the pairs of Korean syllables, of three bytes each, of a token of more than two characters.
template <class Visit>
void visit_pairs(const Rules& rules, size_t begin, size_t end, Visit&& visit) {
    if (end - begin <= 6) return;
    for (; begin + 3 < end; begin = rules.after(begin))
        if (rules.has(begin, 'K') && rules.has(begin + 3, 'K')) visit(begin, begin + 6, true);
}

// Calls visit(begin, end, is_part) for each word of a text, whose characters are ASCII if `ascii`.
template <bool ascii, class Visit>
void visit_words_of(const FoldedText& text, Visit&& visit) {
    const Rules rules{text.bytes(), text.kinds()};
    size_t done = 0;
    const auto visit_token = [&](size_t begin, size_t end) {
        visit(begin, end, false);
        if (!ascii && text.has_syllables()) visit_pairs(rules, begin, end, visit);
        done = end;
    };
    const auto visit_others = [&](size_t end) {
        while (done < end) {
            if (!ascii && rules.has(done, 'H')) {
                done = visit_unspaced(rules, done, visit);
                continue;
            }
            const size_t after = rules.is(done, OTHER) ? rules.end_of_other(done) : done;
            if (after > done)
                visit_token(done, after);
            else
                ++done;
        }
    };
    const auto mark = [](const auto& x) NAIVELY_INLINE {
        return ascii ? mark_word_bytes(x) : mark_word_kinds(x);
    };
    visit_runs(rules.kinds, text.length(), mark, [&](size_t begin, size_t end) {
        visit_others(begin);
        if (!ascii) {  // no word begins with a mark
            begin = std::max(begin, done);
            while (begin < end && rules.has(begin, 'M')) ++begin;
            if (begin >= end) return;
        }
        if (begin >= done) visit_token(begin, rules.end_of_word(begin, end));
    });
    visit_others(text.length());
}

// Not inlined, so that what is inlined into the one of ASCII does not depend on it.
template <class Visit>
__attribute__((noinline)) void visit_words_of_scripts(const FoldedText& text, Visit&& visit) {
    visit_words_of<false>(text, visit);
}

}  // namespace splitting_detail

// Calls visit(begin, end, is_part) for each word of a text, in order; one that is part of others stands
// in no n-gram with its neighbours (see _words of kernels/tokens.py).
template <class Visit>
void visit_words(const FoldedText& text, Visit&& visit) {
    using namespace splitting_detail;
    if (text.is_ascii()) return visit_words_of<true>(text, visit);
    visit_words_of_scripts(text, visit);
}

}  // namespace naively
