// score_linear of kernels/reference.py: start + x·slope over the present cells of dense rows.
#include <cstdint>
#include <optional>

#include "bindings.h"
#include "score_dense.h"

namespace naively {
namespace {

// What a cell adds to each class: x·slope.
struct LinearForm {
    static constexpr int tables = 1;
    static constexpr bool zero_adds_nothing = true;

    static double tiled(int, double entry) { return entry; }

    template <class Isa, int lanes>
    NAIVELY_INLINE static inline Vector<double, lanes> add(const Vector<double, lanes>& sum,
                                                           const Vector<double, lanes>& x,
                                                           const Vector<double, lanes>* slope) {
        return multiply_add<Isa, lanes>(x, slope[0], sum);
    }
    template <class Isa>
    NAIVELY_INLINE static inline double add(double sum, double x, const double* const* tables,
                                            int64_t cell) {
        return multiply_add<Isa>(x, tables[0][cell], sum);
    }
    NAIVELY_INLINE static inline double clipped(double x, const double* const* tables,
                                                int64_t cell) {
        return clipped_product(x, tables[0][cell]);
    }
};

nb::object score_linear(nb::handle X, nb::handle slope, nb::handle offset, nb::handle start,
                        const char* finish, nb::handle log_prior, bool complete) {
    const DenseMatrix x(X, "X");
    const Doubles slopes(slope, "slope", 2);
    const int64_t columns = x.columns(), k = slopes.shape(1);
    slopes.require_shape({columns, k});
    std::optional<Doubles> offsets;
    if (!offset.is_none()) {
        offsets.emplace(offset, "offset", 2);
        offsets->require_shape({columns, k});
    }
    const Scores scores(x.rows(), k, start, finish, log_prior);
    return score_dense<LinearForm>(
        x, {{slopes.data()}, offsets ? offsets->data() : nullptr, columns, k, complete},
        scores);
}

}  // namespace

void bind_score_linear(nb::module_& m) {
    m.def("score_linear", &score_linear, nb::arg("X"), nb::arg("slope"), nb::arg("offset").none(),
          nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"), nb::arg("complete") = false);
}

}  // namespace naively
