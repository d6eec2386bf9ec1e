// read_times of kernels/strings.py: moments of ISO 8601.
#include <cstdint>
#include <vector>

#include "bindings.h"
#include "iso_time.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

nb::tuple read_times(nb::handle object) {
    const Strings strings(object);
    const int64_t rows = strings.rows();
    const int parts = count_parts(rows, 10.0 + 2.0 * strings.mean_length());
    const Result<int64_t> moments("empty", rows);
    std::vector<int64_t> firsts(parts, -1);  // of each part, the first row that is no time
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, [&](int64_t begin, int64_t end, int part) {
            for (int64_t row = begin; row < end; ++row) {
                const bool missing = strings.missing(row);
                const int64_t moment = missing ? NAT : read_iso_time(strings[row]);
                moments.data()[row] = moment;
                if (moment == NAT && !missing && firsts[part] < 0) firsts[part] = row;
            }
        });
    }
    int64_t first = -1;
    for (int part = parts - 1; part >= 0; --part)
        if (firsts[part] >= 0) first = firsts[part];
    return nb::make_tuple(moments.object(), first);
}

}  // namespace

void bind_read_times(nb::module_& m) {
    m.def("read_times", &read_times, nb::arg("strings"));
}

}  // namespace naively
