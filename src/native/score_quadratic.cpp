// score_quadratic of kernels/reference.py: start - half_precision·(x - mean)² over the present
// cells of dense rows.
#include <algorithm>
#include <cstdint>

#include "bindings.h"
#include "score_dense.h"

namespace naively {
namespace {

// What a cell adds to each class: -half_precision·(x - mean)².
struct QuadraticForm {
    static constexpr int tables = 2;
    static constexpr bool zero_adds_nothing = false;

    // Negative already in the tables of a tile, which saves a change of sign for every cell.
    static double tiled(int table, double entry) { return table == 1 ? -entry : entry; }

    template <class Isa, int lanes>
    NAIVELY_INLINE static inline Vector<double, lanes> add(
        const Vector<double, lanes>& sum, const Vector<double, lanes>& x,
        const Vector<double, lanes>* mean_and_precision) {
        const Vector<double, lanes> distance = x - mean_and_precision[0];
        return multiply_add<Isa, lanes>(distance * distance, mean_and_precision[1], sum);
    }
    template <class Isa>
    NAIVELY_INLINE static inline double add(double sum, double x, const double* const* tables,
                                            int64_t cell) {
        const double distance = x - tables[0][cell];
        return multiply_add<Isa>(-(distance * distance), tables[1][cell], sum);
    }
    NAIVELY_INLINE static inline double clipped(double x, const double* const* tables,
                                                int64_t cell) {
        const double distance = std::clamp(x - tables[0][cell], -FAR, FAR);
        return std::clamp(-(distance * distance) * tables[1][cell], -MOST, MOST);
    }
};

nb::object score_quadratic(nb::handle X, nb::handle mean, nb::handle half_precision,
                           nb::handle offset, nb::handle start, const char* finish,
                           nb::handle log_prior, bool complete) {
    const DenseMatrix x(X, "X");
    const Doubles means(mean, "mean", 2), precisions(half_precision, "half_precision", 2);
    const Doubles offsets(offset, "offset", 2);
    const int64_t columns = x.columns(), k = means.shape(1);
    for (const Doubles* table : {&means, &precisions, &offsets}) table->require_shape({columns, k});
    const Scores scores(x.rows(), k, start, finish, log_prior);
    return score_dense<QuadraticForm>(
        x, {{means.data(), precisions.data()}, offsets.data(), columns, k, complete},
        scores);
}

}  // namespace

void bind_score_quadratic(nb::module_& m) {
    m.def("score_quadratic", &score_quadratic, nb::arg("X"), nb::arg("mean"),
          nb::arg("half_precision"), nb::arg("offset"), nb::arg("start"), nb::arg("finish"),
          nb::arg("log_prior"), nb::arg("complete") = false);
}

}  // namespace naively
