// leave_out_lengths of kernels/sparse.py: how many words each text has that others have too.
#include <cstdint>

#include "bindings.h"
#include "sparse_table.h"
#include "tally_rows.h"

namespace naively {
namespace {

nb::object leave_out_lengths(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle w,
                             nb::handle frequency) {
    constexpr double negligible = 1e-12;  // NEGLIGIBLE of kernels/double_double.py
    const Doubles often(frequency, "frequency", 1);
    const WordMatrix matrix(indptr, indices, data, often.shape(0));
    const Weights weights(w, matrix.rows());
    const Result<double> lengths("empty", matrix.rows());
    {
        const nb::gil_scoped_release released;
        for (int64_t row = 0; row < matrix.rows(); ++row) {
            const double weight = weights.data() == nullptr ? 1.0 : weights.data()[row];
            double length = 0.0;
            for (int64_t e = matrix.starts()[row]; e < matrix.starts()[row + 1]; ++e) {
                const double x = matrix.times(e);
                const double others = often.data()[matrix.words()[e]] - weight * x;
                length += others > negligible ? x : 0.0;
            }
            lengths.data()[row] = length;
        }
    }
    return lengths.object();
}

}  // namespace

void bind_leave_out_lengths(nb::module_& m) {
    m.def("leave_out_lengths", &leave_out_lengths, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data").none(), nb::arg("w").none(), nb::arg("frequency"));
}

}  // namespace naively
