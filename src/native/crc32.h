// CRC-32 as zlib has it, of the UTF-8 of words.
#pragma once

#include <array>
#include <cstdint>

#include "word.h"

namespace naively {

class Crc32 {
  public:
    uint32_t value() const { return ~state_; }

    Crc32& of(Bytes bytes) {
        for (size_t i = 0; i < bytes.length; ++i) add(bytes.begin[i]);
        return *this;
    }

    Crc32& of(const Word& word) {
        if (word.length > Word::HELD) return of(Bytes{word.bytes, word.length});
        for (size_t i = 0; i < word.length; ++i)
            add(static_cast<uint8_t>((i < 8 ? word.first : word.second) >> (8 * (i % 8))));
        return *this;
    }

  private:
    uint32_t state_ = UINT32_MAX;

    void add(uint8_t byte) {
        state_ = table()[(state_ ^ byte) & 0xFF] ^ (state_ >> 8);
    }

    static const std::array<uint32_t, 256>& table() {
        static const std::array<uint32_t, 256> made = [] {
            std::array<uint32_t, 256> of_byte{};
            for (uint32_t byte = 0; byte < 256; ++byte) {
                uint32_t remainder = byte;
                for (int bit = 0; bit < 8; ++bit)
                    remainder = remainder & 1 ? 0xEDB88320 ^ (remainder >> 1) : remainder >> 1;
                of_byte[byte] = remainder;
            }
            return of_byte;
        }();
        return made;
    }
};

}  // namespace naively
