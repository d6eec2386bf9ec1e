// The kernels for dense, CSR and code matrices, with the names, arguments and results of
// kernels/reference.py and kernels/cells.py.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string_view>

namespace naively {

namespace nb = nanobind;

nb::object tally_dense(nb::handle X, nb::handle y, nb::handle w, std::int64_t k);
nb::object tally_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle y,
                     nb::handle w, std::int64_t k, std::int64_t width);
nb::object tally_codes(nb::handle codes, nb::handle first, nb::handle y, nb::handle w,
                       std::int64_t k);
nb::object tally_cells(nb::handle values, nb::handle y, nb::handle w, std::int64_t k,
                       std::int64_t cap);
nb::object find_bins(nb::handle values, nb::handle edges, nb::handle first);

nb::object score_linear(nb::handle X, nb::handle slope, nb::handle offset, nb::handle start,
                        const char* finish, nb::handle log_prior);
nb::object score_quadratic(nb::handle X, nb::handle mean, nb::handle half_precision,
                           nb::handle offset, nb::handle start, const char* finish,
                           nb::handle log_prior);
nb::object score_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle slope,
                     nb::handle start, const char* finish, nb::handle log_prior);
nb::object score_codes(nb::handle codes, nb::handle first, nb::handle table, nb::handle start,
                       const char* finish, nb::handle log_prior);
nb::object finish_rows(nb::handle joint, const char* finish, nb::handle log_prior);

}  // namespace naively
