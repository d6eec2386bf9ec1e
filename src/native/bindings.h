// What naively.kernels._native consists of. Each kernel is a file, which binds it to Python with
// the name, the arguments and the results that its contract has in the Python file named here.
#pragma once

#include <nanobind/nanobind.h>

namespace naively {

namespace nb = nanobind;

// kernels/reference.py
void bind_tally_dense(nb::module_& m);
void bind_tally_csr(nb::module_& m);
void bind_tally_codes(nb::module_& m);
void bind_find_ranges(nb::module_& m);
void bind_score_linear(nb::module_& m);
void bind_score_quadratic(nb::module_& m);
void bind_score_csr(nb::module_& m);
void bind_score_codes(nb::module_& m);
void bind_finish_rows(nb::module_& m);

// kernels/reference.py
void bind_tally_cells(nb::module_& m);
void bind_find_bins(nb::module_& m);
void bind_score_bins(nb::module_& m);

// kernels/reference.py
void bind_hash_rows(nb::module_& m);

// kernels/sparse.py
void bind_tally_sparse(nb::module_& m);
void bind_score_sparse(nb::module_& m);
void bind_leave_out_words(nb::module_& m);
void bind_leave_out_lengths(nb::module_& m);
void bind_take_rows(nb::module_& m);

// kernels/sparse.py
void bind_sum_sparse(nb::module_& m);

// kernels/search.py
void bind_softmax_loss(nb::module_& m);

// kernels/search.py
void bind_minimise_softmax(nb::module_& m);

// kernels/rules.py
void bind_grow_rules(nb::module_& m);
void bind_score_rules(nb::module_& m);

// kernels/strings.py
void bind_pack_strings(nb::module_& m);
void bind_pack_views(nb::module_& m);
void bind_take_strings(nb::module_& m);
void bind_encode_strings(nb::module_& m);
void bind_repair_utf8(nb::module_& m);

// kernels/splitting.py
void bind_split_text(nb::module_& m);

// kernels/forms.py
void bind_read_forms(nb::module_& m);

// events/histogram.py
void bind_leave_out_bins(nb::module_& m);

// kernels/vocabulary.py
void bind_vocabulary(nb::module_& m);

}  // namespace naively
