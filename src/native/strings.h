// Strings of kernels/strings.py: read where they lie, and made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "arrays.h"
#include "word.h"

namespace naively {

// Bools of Python, read as bytes: one may hold what no bool of C++ does.
class Flags {
  public:
    Flags(nb::handle flags, int64_t rows) {
        if (flags.is_none()) return;
        held_.emplace(flags, "missing", 1);
        held_->require_shape({rows});
        bytes_ = reinterpret_cast<const uint8_t*>(held_->data());
    }

    bool operator[](int64_t row) const { return bytes_ != nullptr && bytes_[row] != 0; }

  private:
    std::optional<Input<Layout::contiguous, bool>> held_;
    const uint8_t* bytes_ = nullptr;
};

// A string, and how many bytes can be read from its first one on.
struct Readable {
    Bytes string;
    size_t bytes;
};

// A Strings of Python, checked: each of its strings lies within its bytes.
class Strings {
  public:
    explicit Strings(nb::handle strings)
        : offsets_(nb::object(strings.attr("offsets")), "offsets", 1),
          utf8_(nb::object(strings.attr("utf8")), "utf8", 1),
          offset_(offsets_.data()),
          bytes_(utf8_.data()),
          end_(bytes_ + utf8_.shape(0)),
          rows_(offsets_.shape(0) - 1),
          missing_(nb::object(strings.attr("missing")), require_ascending()) {}

    int64_t rows() const { return rows_; }
    bool missing(int64_t row) const { return missing_[row]; }

    Bytes operator[](int64_t row) const { return between(row, row + 1); }

    // The strings of these rows, joined.
    Bytes between(int64_t begin, int64_t end) const {
        const int64_t from = offset_[begin], to = offset_[end];
        return {bytes_ + from, static_cast<size_t>(to - from)};
    }

    int64_t length(int64_t row) const { return offset_[row + 1] - offset_[row]; }
    double mean_length() const {
        const double bytes = static_cast<double>(offset_[rows_] - offset_[0]);
        return rows_ == 0 ? 0.0 : bytes / static_cast<double>(rows_);
    }

    Readable readable(Bytes string) const {
        return {string, static_cast<size_t>(end_ - string.begin)};
    }
    Readable readable(int64_t row) const { return readable((*this)[row]); }

  private:
    Input<Layout::contiguous, int64_t> offsets_;
    Input<Layout::contiguous, uint8_t> utf8_;
    const int64_t* offset_;
    const uint8_t *bytes_, *end_;
    int64_t rows_;
    Flags missing_;

    int64_t require_ascending() const {
        bool wrong = rows_ < 0 || offset_[0] < 0 || offset_[rows_] > utf8_.shape(0);
        for (int64_t row = 0; row < rows_; ++row) wrong |= offset_[row + 1] < offset_[row];
        if (wrong)
            throw std::invalid_argument("the offsets of strings must ascend within their bytes");
        return rows_;
    }
};

inline nb::object make_strings(nb::handle offsets, nb::handle utf8, nb::handle missing) {
    return nb::module_::import_("naively.kernels.strings").attr("Strings")(offsets, utf8, missing);
}

// From lengths, each in the place of where its string ends, to offsets; returns the last.
inline int64_t add_up(int64_t* offsets, int64_t rows) {
    int64_t end = 0;
    offsets[0] = 0;
    for (int64_t row = 0; row < rows; ++row) offsets[row + 1] = end += offsets[row + 1];
    return end;
}

// Copies strings one after another. Short ones are copied at a constant length, faster, as long as
// the bytes are there: what is written too much, the next string overwrites.
class Writer {
  public:
    Writer(uint8_t* begin, uint8_t* end) : at_(begin), end_(end) {}

    void write(Readable source) {
        constexpr size_t SHORT = 32;
        const Bytes string = source.string;
        if (string.length <= SHORT && source.bytes >= SHORT && end_ - at_ >= std::ptrdiff_t{SHORT})
            std::memcpy(at_, string.begin, SHORT);
        else if (string.length != 0)
            std::memcpy(at_, string.begin, string.length);
        at_ += string.length;
    }

  private:
    uint8_t *at_, *end_;  // where the next string begins, and where the last one must end
};

}  // namespace naively
