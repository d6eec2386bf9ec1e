// The Python module naively.kernels._native.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "bindings.h"
#include "simd.h"
#include "threads.h"

namespace nb = nanobind;

namespace {

const char* instruction_set_name() {
#if NAIVELY_MULTIVERSION
    switch (naively::instruction_set()) {
        case naively::InstructionSet::avx2: return naively::Avx2::name;
        case naively::InstructionSet::baseline: break;
    }
#endif
    return naively::Baseline::name;
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Native kernels: the same functions as naively.kernels.reference, faster.";
    naively::bind_tally_dense(m);
    naively::bind_tally_csr(m);
    naively::bind_tally_codes(m);
    naively::bind_tally_cells(m);
    naively::bind_find_bins(m);
    naively::bind_hash_rows(m);
    naively::bind_score_linear(m);
    naively::bind_score_quadratic(m);
    naively::bind_score_csr(m);
    naively::bind_score_codes(m);
    naively::bind_finish_rows(m);
    naively::bind_softmax_loss(m);
    naively::bind_pack_strings(m);
    naively::bind_pack_views(m);
    naively::bind_take_strings(m);
    naively::bind_encode_strings(m);
    naively::bind_repair_utf8(m);
    naively::bind_read_numbers(m);
    naively::bind_read_times(m);
    naively::bind_vocabulary(m);
    m.def("instruction_set", &instruction_set_name, "Name the instruction set in use.");
    m.def("threads", [] { return naively::thread_limit().load(); },
          "Return the most threads used.");
    m.def("set_threads", [](int count) {
        if (count < 1) throw std::invalid_argument("there must be at least one thread");
        naively::thread_limit().store(count);
    }, nb::arg("count"), "Set the most threads used.");
}
