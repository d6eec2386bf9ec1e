// pack_views of kernels/strings.py: Arrow's string views, joined.
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

using ByteArray = Input<Layout::contiguous, uint8_t>;

constexpr int64_t VIEW = 16;   // bytes
constexpr int32_t INLINE = 12;  // bytes that a view holds itself

struct View {
    int32_t length, start, buffer, offset;

    // Arrow's memory need not be aligned.
    explicit View(const uint8_t* bytes) { std::memcpy(this, bytes, sizeof *this); }
};
static_assert(sizeof(View) == VIEW);

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

    // No branch depends on where the bytes are, which no processor foresees.
    void write(int64_t row, size_t length, Writer& writer) const {
        const View view = at(row);
        const bool is_inline = length <= INLINE;
        const Place& place = places_[is_inline ? 0 : view.buffer + int64_t{1}];
        const int64_t offset =
            is_inline ? VIEW * row + static_cast<int64_t>(sizeof view.length) : view.offset;
        writer.write({place.begin + offset, length}, static_cast<size_t>(place.size - offset));
    }

  private:
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

nb::object pack_views(nb::handle objects, nb::handle buffers, nb::handle missing) {
    const Views views(objects, buffers, missing);
    const int64_t rows = views.rows();
    const int parts = count_parts(rows, 10.0);
    const Result<int64_t> offsets("empty", rows + 1);
    int64_t* const ends = offsets.data() + 1;
    int64_t size;
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
            for (int64_t row = begin; row < end; ++row) ends[row] = views.checked_length(row);
        });
        size = add_up(offsets.data(), rows);
    }
    const Result<uint8_t> utf8("empty", size);
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
            const int64_t* offset = offsets.data();
            Writer writer(utf8.data() + offset[begin], utf8.data() + offset[end]);
            for (int64_t row = begin; row < end; ++row)
                views.write(row, static_cast<size_t>(offset[row + 1] - offset[row]), writer);
        });
    }
    return make_strings(offsets.object(), utf8.object(), missing);
}

}  // namespace

void bind_pack_views(nb::module_& m) {
    m.def("pack_views", &pack_views, nb::arg("views"), nb::arg("buffers"),
          nb::arg("missing") = nb::none());
}

}  // namespace naively
