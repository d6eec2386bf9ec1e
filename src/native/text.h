// What one row of texts holds: the characters of a str, or words that are taken as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "utf8.h"
#include "word.h"

namespace naively {

// Words one after another, in the bytes that Word has.
struct WordList {
    std::vector<uint8_t> bytes;
    std::vector<size_t> ends;  // of each word, in bytes

    size_t size() const { return ends.size(); }
    Bytes operator[](size_t i) const {
        const size_t begin = i == 0 ? 0 : ends[i - 1];
        return {bytes.data() + begin, ends[i] - begin};
    }
    void end_word() { ends.push_back(bytes.size()); }

    // Calls visit(Bytes) for each word.
    template <class Visit>
    void visit(Visit&& visit) const {
        for (size_t i = 0; i < size(); ++i) visit((*this)[i]);
    }
};

// The characters of a str, in UTF-8, or words.
struct Text {
    const uint8_t* utf8 = nullptr;
    size_t length = 0;  // in bytes
    bool ascii = true;
    const WordList* words = nullptr;
    bool spaced = false;  // whether one of the words holds a space

    // The first characters, of a text of characters.
    Text first(size_t most) const {
        Text cut = *this;
        if (words != nullptr || length <= most) return cut;
        cut.length = ascii ? most : 0;
        while (!ascii && cut.length < length && (goes_on(utf8[cut.length]) || most-- > 0)) ++cut.length;
        return cut;
    }
};

}  // namespace naively
