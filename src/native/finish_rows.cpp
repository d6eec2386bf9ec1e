// finish_rows of kernels/reference.py: joint log likelihoods normalised, or reduced to the label.
#include <cstdint>

#include "bindings.h"
#include "score_rows.h"
#include "threads.h"

namespace naively {
namespace {

nb::object finish_rows(nb::handle joint, const char* finish, nb::handle log_prior) {
    const Doubles rows(joint, "joint", 2);
    const int64_t k = rows.shape(1);
    const Scores scores(rows.shape(0), k, joint, finish, log_prior);
    run_rows(scores.rows(), 8 * k, [&](auto, int64_t begin, int64_t end) NAIVELY_INLINE {
        score_rows(scores, begin, end, [](int64_t, int64_t) NAIVELY_INLINE {},
                   [](int64_t, double*) NAIVELY_INLINE {});
    });
    return scores.object();
}

}  // namespace

void bind_finish_rows(nb::module_& m) {
    m.def("finish_rows", &finish_rows, nb::arg("joint"), nb::arg("finish"), nb::arg("log_prior"));
}

}  // namespace naively
