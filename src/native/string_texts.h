// Strings of kernels/strings.py as texts, which are read where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "arrays.h"
#include "text.h"
#include "utf8.h"

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

// Holds the arrays for as long as it lives.
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

    Text read(size_t row) const {
        const int64_t begin = offsets_.data()[row], end = offsets_.data()[row + 1];
        if (begin < 0 || end < begin || end > utf8_.shape(0))
            throw std::invalid_argument("offsets must ascend within the bytes of the texts");
        if (is_missing(row)) return {};
        const uint8_t* const bytes = utf8_.data() + begin;
        const auto n = static_cast<size_t>(end - begin);
        const bool ascii = is_ascii(bytes, n);
        if (!ascii && !is_utf8(bytes, n))
            throw std::invalid_argument("text " + std::to_string(row) + " is not UTF-8");
        return {bytes, n, ascii, nullptr, false};
    }

  private:
    using Offsets = Input<Layout::contiguous, int64_t>;
    using ByteArray = Input<Layout::contiguous, uint8_t>;
    using Flags = Input<Layout::contiguous, bool>;

    Offsets offsets_;
    ByteArray utf8_;
    std::optional<Flags> missing_;

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
};

}  // namespace naively
