// The Python module naively.kernels._native.
#include <nanobind/nanobind.h>

#include "kernels.h"
#include "simd.h"
#include "threads.h"

namespace nb = nanobind;

void bind_text(nb::module_& m);

namespace {

void bind_tally(nb::module_& m) {
    m.def("tally_dense", &naively::tally_dense, nb::arg("X"), nb::arg("y"), nb::arg("w").none(),
          nb::arg("k"));
    m.def("tally_csr", &naively::tally_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("y"), nb::arg("w").none(), nb::arg("k"), nb::arg("width"));
    m.def("tally_codes", &naively::tally_codes, nb::arg("codes"), nb::arg("first"), nb::arg("y"),
          nb::arg("w").none(), nb::arg("k"));
    m.def("tally_cells", &naively::tally_cells, nb::arg("values"), nb::arg("y"),
          nb::arg("w").none(), nb::arg("k"), nb::arg("cap"));
    m.def("find_bins", &naively::find_bins, nb::arg("values"), nb::arg("edges"),
          nb::arg("first"));
}

void bind_score(nb::module_& m) {
    m.def("score_linear", &naively::score_linear, nb::arg("X"), nb::arg("slope"),
          nb::arg("offset").none(), nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"));
    m.def("score_quadratic", &naively::score_quadratic, nb::arg("X"), nb::arg("mean"),
          nb::arg("half_precision"), nb::arg("offset"), nb::arg("start"), nb::arg("finish"),
          nb::arg("log_prior"));
    m.def("score_csr", &naively::score_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("slope"), nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"));
    m.def("score_codes", &naively::score_codes, nb::arg("codes"), nb::arg("first"),
          nb::arg("table"), nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"));
    m.def("finish_rows", &naively::finish_rows, nb::arg("joint"), nb::arg("finish"),
          nb::arg("log_prior"));
}

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
    bind_tally(m);
    bind_score(m);
    bind_text(m);
    m.def("instruction_set", &instruction_set_name, "Name the instruction set in use.");
    m.def("threads", [] { return naively::thread_limit().load(); },
          "Return the most threads used.");
    m.def("set_threads", [](int count) {
        if (count < 1) throw nb::value_error("there must be at least one thread");
        naively::thread_limit().store(count);
    }, nb::arg("count"), "Set the most threads used.");
}
