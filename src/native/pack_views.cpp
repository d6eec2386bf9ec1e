// pack_views of kernels/strings.py: Arrow's string views, joined.
#include <cstdint>

#include "bindings.h"
#include "string_views.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

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
            for (int64_t row = begin; row < end; ++row) {
                const auto length = static_cast<size_t>(offset[row + 1] - offset[row]);
                writer.write(views.of_length(row, length));
            }
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
