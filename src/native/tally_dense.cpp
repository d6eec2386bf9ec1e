// tally_dense of kernels/reference.py: weighted number, sum and sum of squares of the cells of each
// column, by class, in double-double.
//
// Rows are taken a block at a time, small enough to stay in the cache, and ordered by class inside
// the block. Then, for each class and each strip of neighbouring columns, the running sums stay in
// registers while the rows of the class go by; the strip's sums are added to the totals once.
// While a block is summed, the next one is prefetched line by line, in the order of memory: the
// order of classes would keep the processor's own prefetching from seeing where it is going.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "dense.h"
#include "double_double.h"
#include "strip_sums.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

constexpr int64_t panel_columns = 512;  // the widest block
constexpr int64_t block_cells = 3 << 14;
constexpr int64_t run_rows = 192;  // of one class, summed at a time: a strip of them stays in L1

// The strips that cover the columns. Where rows are read in place, the last strip starts early
// rather than be shorter, so its first lanes may repeat columns; those are not read out.
struct Strips {
    int64_t columns;

    int64_t count() const { return (columns + strip_columns - 1) / strip_columns; }
    int64_t start(int64_t strip) const {
        return std::min(strip * strip_columns, columns - strip_columns);
    }
};

const volatile double one = 1.0;  // for Block::one

// The rows of a block in order of class.
class ClassOrder {
  public:
    ClassOrder(int64_t classes, int64_t rows) : end_(classes), order_(rows) {}

    void sort(const std::int32_t* y, int64_t rows) {
        std::fill(end_.begin(), end_.end(), 0);
        for (int64_t i = 0; i < rows; ++i) ++end_[y[i]];
        std::int32_t before = 0;
        for (std::int32_t& end : end_) {
            const std::int32_t count = end;
            end = before;
            before += count;
        }
        for (int64_t i = 0; i < rows; ++i) order_[end_[y[i]]++] = static_cast<std::int32_t>(i);
    }
    const std::int32_t* rows(int64_t c) const { return order_.data() + begin(c); }
    int64_t count(int64_t c) const { return end_[c] - begin(c); }

  private:
    std::int32_t begin(int64_t c) const { return c ? end_[c - 1] : 0; }

    std::vector<std::int32_t> end_, order_;
};

// Add one block of columns to the totals, class by class, strip by strip.
template <class Isa, bool weighted, class T>
NAIVELY_INLINE inline void add_block(const Block<T>& block, int64_t column, int64_t columns,
                                     int64_t classes, const Strips& strips, const ClassOrder& order,
                                     bool& careful, StripSums* totals) {
    const int64_t first_strip = column / strip_columns;
    const int64_t end_strip = (column + columns + strip_columns - 1) / strip_columns;
    for (int64_t c = 0; c < classes; ++c) {
        for (int64_t first = 0; first < order.count(c); first += run_rows) {
            const int64_t count = std::min(run_rows, order.count(c) - first);
            const std::int32_t* rows = order.rows(c) + first;
            double run_weight = static_cast<double>(count), run_weight_low = 0.0;
            if (weighted) {
                run_weight = 0.0;
                for (int64_t i = 0; i < count; ++i)
                    add_to_sum(run_weight, run_weight_low, block.weight[rows[i]]);
            }
            for (int64_t strip = first_strip; strip < end_strip; ++strip) {
                const int64_t start = strips.start(strip) - column;
                StripSums& total = totals[c * strips.count() + strip];
                StripSums sums;
                const auto sum = [&](auto missing) NAIVELY_INLINE {
                    return for_each_piece<Isa>([&](int64_t lane) NAIVELY_INLINE {
                        return sum_piece<Isa, weighted, decltype(missing)::value>(
                            block, start, rows, count, lane, sums);
                    });
                };
                const bool plain =
                    !weighted && !careful && for_each_piece<Isa>([&](int64_t lane) NAIVELY_INLINE {
                        return sum_plain_piece<Isa>(block, start, rows, count, lane, total, sums);
                    });
                // Where one cell is missing others will be, and looking costs little more.
                if (!plain && !careful) careful = !sum(std::false_type{});
                if (careful) {
                    sum(std::true_type{});
                } else {
                    sums[0][0].fill(run_weight);
                    sums[0][1].fill(run_weight_low);
                }
                add_strip<Isa>(total, sums);
            }
        }
    }
}

template <class T>
bool is_read_in_place(const Matrix<T>& matrix) {
    return matrix.column_stride == 1 && matrix.columns >= strip_columns;
}

template <class T>
Strips make_strips(const Matrix<T>& matrix) {
    if (is_read_in_place(matrix)) return {matrix.columns};
    return {(matrix.columns + strip_columns - 1) / strip_columns * strip_columns};
}

template <class Isa, class T>
NAIVELY_INLINE inline void add_rows(const Matrix<T>& matrix, const std::int32_t* y, const double* w,
                                    int64_t classes, int64_t begin, int64_t end,
                                    StripSums* totals) {
    const Strips strips = make_strips(matrix);
    const bool in_place = is_read_in_place(matrix);
    const int64_t panel = std::min(strips.columns, panel_columns);
    const int64_t block_rows = std::clamp<int64_t>(block_cells / panel, 64, 1024);
    std::vector<T> packed(in_place ? 0 : panel * block_rows);
    ClassOrder order(classes, block_rows);
    bool careful = false;
    for (int64_t row = begin; row < end; row += block_rows) {
        const int64_t rows = std::min(block_rows, end - row);
        order.sort(y + row, rows);
        for (int64_t column = 0; column < matrix.columns; column += panel) {
            const int64_t columns = std::min(panel, matrix.columns - column);
            Block<T> block{matrix.at(row, column), matrix.row_stride, w ? w + row : nullptr, one,
                           matrix.address(row + rows, column)};
            if (!in_place) {
                pack_block(matrix, row, rows, column, columns, packed.data(), panel);
                block.cells = packed.data();
                block.stride = panel;
            }
            if (w)
                add_block<Isa, true>(block, column, columns, classes, strips, order, careful,
                                     totals);
            else
                add_block<Isa, false>(block, column, columns, classes, strips, order, careful,
                                      totals);
        }
    }
}

// The totals of all rows: [class][strip].
template <class T>
std::vector<StripSums> tally_rows(const Matrix<T>& matrix, const std::int32_t* y, const double* w,
                                  int64_t classes) {
    const int64_t cells = classes * make_strips(matrix).count();
    const int parts = count_parts(matrix.rows, static_cast<double>(matrix.columns));
    std::vector<std::vector<StripSums>> totals(parts);
    for (std::vector<StripSums>& total : totals) total.resize(cells);
    run_parts(matrix.rows, parts, [&](int64_t begin, int64_t end, int part) {
        on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
            add_rows<decltype(isa)>(matrix, y, w, classes, begin, end, totals[part].data());
        });
    });
    for (int part = 1; part < parts; ++part)
        for (int64_t cell = 0; cell < cells; ++cell)
            add_strip<Baseline>(totals[0][cell], totals[part][cell]);
    return std::move(totals[0]);
}

nb::object tally_dense(nb::handle X, nb::handle y, nb::handle w, int64_t k) {
    const DenseMatrix x(X, "X");
    const int64_t rows = x.rows(), columns = x.columns();
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    Result<double> results[statistics][2] = {
        {{"zeros", columns, k}, {"zeros", columns, k}},
        {{"zeros", columns, k}, {"zeros", columns, k}},
        {{"zeros", columns, k}, {"zeros", columns, k}},
    };
    if (rows && columns) {
        nb::gil_scoped_release released;
        x.visit([&](const auto& matrix) {
            const std::vector<StripSums> totals =
                tally_rows(matrix, classes.data(), weights.data(), k);
            const Strips strips = make_strips(matrix);
            for (int64_t j = 0; j < columns; ++j) {
                const int64_t strip = j / strip_columns, lane = j - strips.start(strip);
                for (int64_t c = 0; c < k; ++c)
                    for (int statistic = 0; statistic < statistics; ++statistic)
                        for (int part = 0; part < 2; ++part)
                            results[statistic][part].data()[j * k + c] =
                                totals[c * strips.count() + strip][statistic][part][lane];
            }
        });
    }
    nb::list pairs;
    for (auto& pair : results) pairs.append(nb::make_tuple(pair[0].object(), pair[1].object()));
    return pairs;
}

}  // namespace

void bind_tally_dense(nb::module_& m) {
    m.def("tally_dense", &tally_dense, nb::arg("X"), nb::arg("y"), nb::arg("w").none(),
          nb::arg("k"));
}

}  // namespace naively
