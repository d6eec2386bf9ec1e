// Arrow's string views, read where they lie and checked: each is of bytes that are there.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "strings.h"

namespace naively {

class Views {
  public:
    Views(nb::handle views, nb::handle buffers, nb::handle missing)
        : views_(views, "views", 2), missing_(missing, views_.shape(0)) {
        views_.require_shape({rows(), VIEW});
        const nb::object held = nb::steal(PySequence_Tuple(buffers.ptr()));
        if (!held.is_valid()) throw nb::python_error();
        places_.push_back({views_.data(), rows() * VIEW});
        for (const nb::handle buffer : nb::borrow<nb::tuple>(held)) {
            const ByteArray& bytes = buffers_.emplace_back(buffer, "a buffer", 1);
            places_.push_back({bytes.data(), bytes.shape(0)});
        }
    }

    int64_t rows() const { return views_.shape(0); }

    int64_t checked_length(int64_t row) const {
        if (missing_[row]) return 0;
        const View view = at(row);
        if (0 <= view.length && view.length <= INLINE) return view.length;
        const bool within = view.length >= 0 && 0 <= view.buffer &&
                            static_cast<size_t>(view.buffer) < buffers_.size() &&
                            view.offset >= 0 &&
                            int64_t{view.offset} + view.length <= places_[view.buffer + 1].size;
        if (!within)
            throw std::invalid_argument("string view " + std::to_string(row) +
                                        " is of bytes that are not there");
        return view.length;
    }

    bool missing(int64_t row) const { return missing_[row]; }

    // No branch depends on where the bytes are, which no processor foresees.
    Readable of_length(int64_t row, size_t length) const {
        const View view = at(row);
        const bool is_inline = length <= INLINE;
        const Place& place = places_[is_inline ? 0 : view.buffer + int64_t{1}];
        const int64_t offset =
            is_inline ? VIEW * row + static_cast<int64_t>(sizeof view.length) : view.offset;
        return {{place.begin + offset, length}, static_cast<size_t>(place.size - offset)};
    }

    // All of a string that its view holds itself, as two numbers; whether there is one.
    struct Whole {
        uint64_t first, second;

        bool operator==(const Whole& other) const {
            return first == other.first && second == other.second;
        }
    };
    bool is_whole(int64_t row, Whole& whole) const {
        std::memcpy(&whole, views_.data() + VIEW * row, sizeof whole);
        const int32_t length = at(row).length;
        return 0 <= length && length <= INLINE;
    }

    Readable readable(int64_t row) const {
        if (missing_[row]) return {{places_[0].begin, 0}, 0};
        return of_length(row, static_cast<size_t>(checked_length(row)));
    }

  private:
    using ByteArray = Input<Layout::contiguous, uint8_t>;

    static constexpr int64_t VIEW = 16;    // bytes
    static constexpr int32_t INLINE = 12;  // bytes that a view holds itself

    struct View {
        int32_t length, start, buffer, offset;

        // Arrow's memory need not be aligned.
        explicit View(const uint8_t* bytes) { std::memcpy(this, bytes, sizeof *this); }
    };
    static_assert(sizeof(View) == VIEW);

    struct Place {
        const uint8_t* begin;
        int64_t size;
    };

    ByteArray views_;
    Flags missing_;
    std::vector<ByteArray> buffers_;
    std::vector<Place> places_;  // of the views themselves, then of the buffers

    View at(int64_t row) const { return View(views_.data() + VIEW * row); }
};

}  // namespace naively
