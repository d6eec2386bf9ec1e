// The Python module naively.kernels._native.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "bindings.h"
#include "simd.h"
#include "threads.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace nb = nanobind;

namespace {

const char* instruction_set_name() {
#if NAIVELY_MULTIVERSION
    switch (naively::instruction_set().load()) {
        case naively::InstructionSet::avx2: return naively::Avx2::name;
        case naively::InstructionSet::baseline: break;
    }
#endif
    return naively::Baseline::name;
}

// The names of those that this processor has.
nb::list instruction_sets() {
    nb::list names;
#if NAIVELY_MULTIVERSION
    for (const naively::NamedSet& each : naively::named_sets)
        if (each.set <= naively::best_instruction_set()) names.append(each.name);
#else
    names.append("baseline");
#endif
    return names;
}

void set_instruction_set(std::string_view name) {
#if NAIVELY_MULTIVERSION
    for (const naively::NamedSet& each : naively::named_sets)
        if (name == each.name && each.set <= naively::best_instruction_set())
            return naively::instruction_set().store(each.set);
#else
    if (name == "baseline") return;
#endif
    throw std::invalid_argument("this processor has no such instruction set");
}

void give_back() {
#if defined(__GLIBC__)
    const nb::gil_scoped_release released;
    malloc_trim(0);
#endif
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Native kernels: the same functions as naively.kernels.reference, faster.";
    naively::bind_tally_dense(m);
    naively::bind_tally_csr(m);
    naively::bind_tally_codes(m);
    naively::bind_find_ranges(m);
    naively::bind_tally_cells(m);
    naively::bind_find_bins(m);
    naively::bind_hash_rows(m);
    naively::bind_score_linear(m);
    naively::bind_score_quadratic(m);
    naively::bind_score_csr(m);
    naively::bind_score_codes(m);
    naively::bind_score_bins(m);
    naively::bind_finish_rows(m);
    naively::bind_tally_sparse(m);
    naively::bind_score_sparse(m);
    naively::bind_leave_out_words(m);
    naively::bind_leave_out_lengths(m);
    naively::bind_leave_out_bins(m);
    naively::bind_take_rows(m);
    naively::bind_sum_sparse(m);
    naively::bind_softmax_loss(m);
    naively::bind_minimise_softmax(m);
    naively::bind_grow_rules(m);
    naively::bind_score_rules(m);
    naively::bind_pack_strings(m);
    naively::bind_pack_views(m);
    naively::bind_take_strings(m);
    naively::bind_encode_strings(m);
    naively::bind_repair_utf8(m);
    naively::bind_split_text(m);
    naively::bind_read_forms(m);
    naively::bind_vocabulary(m);
    m.def("give_back", &give_back, "Return memory that was freed to the system.");
    m.def("instruction_set", &instruction_set_name, "Name the instruction set in use.");
    m.def("instruction_sets", &instruction_sets, "Name those that can be set, the best last.");
    m.def("set_instruction_set", &set_instruction_set, nb::arg("name"),
          "Use the kernels of this instruction set, to test and to compare.");
    m.def("threads", [] { return naively::thread_limit().load(); },
          "Return the most threads used.");
    m.def("set_threads", [](int count) {
        if (count < 1) throw std::invalid_argument("there must be at least one thread");
        naively::thread_limit().store(count);
    }, nb::arg("count"), "Set the most threads used.");
}
