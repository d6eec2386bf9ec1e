// Strings of kernels/strings.py as texts: what is ASCII is read where it lies, and the rest decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.h"
#include "text.h"
#include "utf8_text.h"

namespace naively {

// The class is looked up when it is first needed, and then kept for good; the GIL is held.
inline bool is_strings(nb::handle texts) {
    static PyObject* type = nullptr;
    if (type == nullptr) {
        nb::object found = nb::module_::import_("naively.kernels.strings").attr("Strings");
        type = found.release().ptr();
    }
    return PyObject_TypeCheck(texts.ptr(), reinterpret_cast<PyTypeObject*>(type));
}

// Memory in pieces that neither move nor are set to anything.
class Arena {
  public:
    // Aligned for characters of any width.
    void* take(size_t bytes) {
        bytes = (bytes + 7) & ~size_t{7};
        if (bytes > left_) {
            left_ = bytes > PIECE ? bytes : PIECE;
            pieces_.emplace_back(new uint8_t[left_]);
            next_ = pieces_.back().get();
        }
        void* const taken = next_;
        next_ += bytes;
        left_ -= bytes;
        return taken;
    }

  private:
    static constexpr size_t PIECE = size_t{1} << 16;
    std::vector<std::unique_ptr<uint8_t[]>> pieces_;
    uint8_t* next_ = nullptr;
    size_t left_ = 0;
};

// Holds the arrays, and the texts that it decoded, for as long as it lives.
class StringTexts {
  public:
    explicit StringTexts(nb::handle strings)
        : offsets_(checked<Offsets>(strings.attr("offsets")), "offsets"),
          utf8_(checked<ByteArray>(strings.attr("utf8")), "utf8") {
        if (offsets_.shape(0) == 0)
            throw std::invalid_argument("offsets must have at least one element");
        const nb::object missing = strings.attr("missing");
        if (missing.is_none()) return;
        if (!Flags::fits(missing, 1))
            throw std::invalid_argument("missing must be bool, in one dimension");
        missing_.emplace(missing, "missing");
        if (missing_->shape(0) != offsets_.shape(0) - 1)
            throw std::invalid_argument(std::to_string(missing_->shape(0)) +
                                        " flags of what is missing for " +
                                        std::to_string(offsets_.shape(0) - 1) + " texts");
    }

    size_t size() const { return static_cast<size_t>(offsets_.shape(0)) - 1; }

    // What a row holds; each is asked for once, as it may be decoded.
    Text read(size_t row) {
        const int64_t begin = offsets_.data()[row], end = offsets_.data()[row + 1];
        if (begin < 0 || end < begin || end > utf8_.shape(0))
            throw std::invalid_argument("offsets must ascend within the bytes of the texts");
        if (is_missing(row)) return {};
        const uint8_t* const bytes = utf8_.data() + begin;
        const auto n = static_cast<size_t>(end - begin);
        switch (character_width(bytes, n)) {
            case 0: return {bytes, n, 0, nullptr, false};
            case 1: return decoded<Py_UCS1>(bytes, n, row);
            case 2: return decoded<Py_UCS2>(bytes, n, row);
            default: return decoded<Py_UCS4>(bytes, n, row);
        }
    }

  private:
    using Offsets = Input<Layout::contiguous, int64_t>;
    using ByteArray = Input<Layout::contiguous, uint8_t>;
    using Flags = Input<Layout::contiguous, bool>;

    Offsets offsets_;
    ByteArray utf8_;
    std::optional<Flags> missing_;
    Arena arena_;

    template <class Array>
    static nb::object checked(nb::object array) {
        if (!Array::fits(array, 1))
            throw std::invalid_argument(
                "offsets of texts must be int64 and their bytes uint8, in one dimension");
        return array;
    }

    // A flag is read as a byte, since one that is neither 0 nor 1 is no bool of C++.
    bool is_missing(size_t row) const {
        return missing_ && reinterpret_cast<const uint8_t*>(missing_->data())[row] != 0;
    }

    template <class Character>
    Text decoded(const uint8_t* bytes, size_t n, size_t row) {
        const size_t length = count_characters(bytes, n);
        auto* const characters =
            static_cast<Character*>(arena_.take(length * sizeof(Character)));
        if (!decode_utf8(bytes, n, characters, length))
            throw std::invalid_argument("text " + std::to_string(row) + " is not UTF-8");
        return {characters, length, static_cast<int>(sizeof(Character)), nullptr, false};
    }
};

}  // namespace naively
