// Weighted number, sum and sum of squares of the cells of each column, by class, in double-double.
//
// Rows are taken a block at a time, small enough to stay in the cache, and ordered by class inside
// the block. Then, for each class and each strip of neighbouring columns, the running sums stay in
// registers while the rows of the class go by; the strip's sums are added to the totals once.
// While a block is summed, the next one is prefetched line by line, in the order of memory: the
// order of classes would keep the processor's own prefetching from seeing where it is going.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.h"
#include "dense.h"
#include "double_double.h"
#include "kernels.h"
#include "threads.h"

namespace naively {
namespace {

constexpr int64_t cache_line = 64;
constexpr int64_t strip_columns = 8;   // doubles in a cache line
constexpr int64_t panel_columns = 512;  // the widest block
constexpr int64_t block_cells = 3 << 14;
constexpr int64_t run_rows = 192;  // of one class, summed at a time: a strip of them stays in L1
constexpr int statistics = 3;  // weight, value, square

// The strips that cover the columns. Where rows are read in place, the last strip starts early
// rather than be shorter, so its first lanes may repeat columns; those are not read out.
struct Strips {
    int64_t columns;

    int64_t count() const { return (columns + strip_columns - 1) / strip_columns; }
    int64_t start(int64_t strip) const {
        return std::min(strip * strip_columns, columns - strip_columns);
    }
};

// The sums of one class and strip: [statistic][high, low][lane].
using StripSums = std::array<std::array<std::array<double, strip_columns>, 2>, statistics>;

template <class T>
struct Block {
    const T* cells;
    int64_t stride;
    mutable const char* ahead;  // what comes after the block, being prefetched line by line
    const double* weight;    // of the block's rows, or null
    double one;              // which the compiler does not know
};

const volatile double one = 1.0;

// As much of a strip as has its sums in registers.
template <class Isa>
constexpr int64_t piece_columns = std::min<int64_t>(strip_columns, 2 * Isa::lanes);

// The common case, no weights: sum a piece of a strip over the given rows; false if there was a NaN.
//
// Squares are added to a sum that begins with a bias, their own plain sum, which is at least as
// large as each of them: then the error of s' = s + x*x is x*x - (s' - s), two operations instead
// of ten. The bias is taken out at the end; being no larger than the sum, it costs no digits.
// Processors that add and multiply in different units are busiest adding, so that some of the
// additions are written as a multiplication by one.
template <class Isa, class T>
NAIVELY_INLINE inline bool sum_plain_piece(const Block<T>& block, int64_t column, const std::int32_t* rows,
                                           int64_t count, int64_t first_lane, StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    constexpr int vectors = piece_columns<Isa> / lanes;
    using V = Vector<double, lanes>;
    const T* const cells = block.cells + column + first_lane;
    V bias[2][vectors] = {};  // two chains wait for one another less
    int64_t i = 0;
    const auto add_bias = [&](int64_t row, V (&to)[vectors]) NAIVELY_INLINE {
        const T* from = cells + rows[row] * block.stride;
        __builtin_prefetch(block.ahead, 0, 2);
        block.ahead += cache_line;
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const V x = load<lanes>(from + v * lanes);
            to[v] = multiply_add<Isa, lanes>(x, x, to[v]);
        }
    };
    for (; i + 2 <= count; i += 2) {
        add_bias(i, bias[0]);
        add_bias(i + 1, bias[1]);
    }
    if (i < count) add_bias(i, bias[0]);
    const V one = broadcast<lanes>(block.one);
    V value[vectors][2] = {}, square[vectors][2] = {};
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) square[v][0] = bias[0][v] + bias[1][v];
    for (i = 0; i < count; ++i) {
        const T* from = cells + rows[i] * block.stride;
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            const V x = load<lanes>(from + v * lanes);
            const V before = value[v][0], sum = before + x;
            const V added = sum - before;
            const V kept = multiply_add<Isa, lanes>(-added, one, sum);
            const V error = (before - kept) + multiply_add<Isa, lanes>(-added, one, x);
            value[v][0] = sum;
            value[v][1] = multiply_add<Isa, lanes>(error, one, value[v][1]);
            const V squares = fused_multiply_add<lanes>(x, x, square[v][0]);
            const V added_square = squares - square[v][0];
            square[v][0] = squares;
            square[v][1] += fused_multiply_add<lanes>(x, x, -added_square);
        }
    }
    bool no_nan = true;
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) {
        V high = square[v][0], low = square[v][1];
        add_to_sum(high, low, -(bias[0][v] + bias[1][v]));
        store<lanes>(&sums[1][0][first_lane + v * lanes], value[v][0]);
        store<lanes>(&sums[1][1][first_lane + v * lanes], value[v][1]);
        store<lanes>(&sums[2][0][first_lane + v * lanes], high);
        store<lanes>(&sums[2][1][first_lane + v * lanes], low);
        NAIVELY_UNROLL
        for (int lane = 0; lane < lanes; ++lane) no_nan &= value[v][0][lane] == value[v][0][lane];
    }
    return no_nan;
}

// Sum a piece of a strip over the given rows of the block; false if there was a NaN, unless `missing` is
// set: then missing cells are left out, and counted out of the weight.
template <class Isa, bool weighted, bool missing, class T>
NAIVELY_INLINE inline bool sum_piece(const Block<T>& block, int64_t column, const std::int32_t* rows,
                                     int64_t count, int64_t first_lane, StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    constexpr int vectors = piece_columns<Isa> / lanes;
    using V = Vector<double, lanes>;
    V weight[vectors][2] = {}, value[vectors][2] = {}, square[vectors][2] = {};
    for (int64_t i = 0; i < count; ++i) {
        const T* cells = block.cells + rows[i] * block.stride + column + first_lane;
        __builtin_prefetch(block.ahead, 0, 2);
        block.ahead += cache_line;
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) {
            V x = load<lanes>(cells + v * lanes);
            V w = broadcast<lanes>(weighted ? block.weight[rows[i]] : 1.0);
            if constexpr (missing) {
                const auto present = x == x;
                const V zero{};
                x = present ? x : zero;
                w = present ? w : zero;
                if constexpr (weighted)
                    add_to_sum(weight[v][0], weight[v][1], w);
                else
                    weight[v][0] += w;
            }
            if constexpr (weighted) {
                const V product = w * x;
                const V error = fused_multiply_add<lanes>(w, x, -product);
                add_to_sum(value[v][0], value[v][1], product);
                value[v][1] += error;
                const V squared = product * x;
                const V square_error = fused_multiply_add<lanes>(product, x, -squared);
                add_to_sum(square[v][0], square[v][1], squared);
                square[v][1] += square_error + error * x;
            } else {
                add_to_sum(value[v][0], value[v][1], x);
                const V squared = x * x;
                add_to_sum(square[v][0], square[v][1], squared);
                square[v][1] += fused_multiply_add<lanes>(x, x, -squared);
            }
        }
    }
    bool no_nan = true;
    NAIVELY_UNROLL
    for (int v = 0; v < vectors; ++v) {
        NAIVELY_UNROLL
        for (int part = 0; part < 2; ++part) {
            store<lanes>(&sums[0][part][first_lane + v * lanes], weight[v][part]);
            store<lanes>(&sums[1][part][first_lane + v * lanes], value[v][part]);
            store<lanes>(&sums[2][part][first_lane + v * lanes], square[v][part]);
        }
        NAIVELY_UNROLL
        for (int lane = 0; lane < lanes; ++lane) no_nan &= value[v][0][lane] == value[v][0][lane];
    }
    return no_nan;
}

template <class Isa, bool weighted, bool missing, class T>
NAIVELY_INLINE inline bool sum_strip(const Block<T>& block, int64_t column, const std::int32_t* rows,
                                     int64_t count, StripSums& sums) {
    bool no_nan = true;
    for (int64_t lane = 0; lane < strip_columns; lane += piece_columns<Isa>) {
        if constexpr (weighted || missing)
            no_nan &= sum_piece<Isa, weighted, missing>(block, column, rows, count, lane, sums);
        else
            no_nan &= sum_plain_piece<Isa>(block, column, rows, count, lane, sums);
    }
    return no_nan;
}

template <class Isa>
NAIVELY_INLINE inline void add_strip(StripSums& total, const StripSums& sums) {
    constexpr int lanes = Isa::lanes;
    using V = Vector<double, lanes>;
    for (int statistic = 0; statistic < statistics; ++statistic) {
        for (int lane = 0; lane < strip_columns; lane += lanes) {
            V high = load<lanes>(&total[statistic][0][lane]);
            V low = load<lanes>(&total[statistic][1][lane]);
            add_pair<V>(high, low, load<lanes>(&sums[statistic][0][lane]),
                        load<lanes>(&sums[statistic][1][lane]));
            store<lanes>(&total[statistic][0][lane], high);
            store<lanes>(&total[statistic][1][lane], low);
        }
    }
}

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

// Add one block of columns [begin, end) to the totals, class by class, strip by strip.
template <class Isa, bool weighted, class T>
NAIVELY_INLINE inline void add_block(const Block<T>& block, int64_t column, int64_t columns,
                                     int64_t classes, const Strips& strips, const ClassOrder& order,
                                     bool& missing, StripSums* totals) {
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
                StripSums sums;
                // Where one cell is missing others will be, and the sums that look cost little more.
                if (!missing)
                    missing = !sum_strip<Isa, weighted, false>(block, start, rows, count, sums);
                if (missing) {
                    sum_strip<Isa, weighted, true>(block, start, rows, count, sums);
                } else {
                    sums[0][0].fill(run_weight);
                    sums[0][1].fill(run_weight_low);
                }
                add_strip<Isa>(totals[c * strips.count() + strip], sums);
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
    bool missing = false;
    for (int64_t row = begin; row < end; row += block_rows) {
        const int64_t rows = std::min(block_rows, end - row);
        order.sort(y + row, rows);
        for (int64_t column = 0; column < matrix.columns; column += panel) {
            const int64_t columns = std::min(panel, matrix.columns - column);
            const auto* ahead = reinterpret_cast<const char*>(matrix.at(row + rows, column));
            Block<T> block{matrix.at(row, column), matrix.row_stride, ahead, w ? w + row : nullptr, one};
            if (!in_place) {
                pack_block(matrix, row, rows, column, columns, packed.data(), panel);
                block.cells = packed.data();
                block.stride = panel;
            }
            if (w)
                add_block<Isa, true>(block, column, columns, classes, strips, order, missing, totals);
            else
                add_block<Isa, false>(block, column, columns, classes, strips, order, missing, totals);
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

}  // namespace

nb::object tally_dense(nb::handle X, nb::handle y, nb::handle w, int64_t k) {
    const Array x(X, 2, "X", {Type::float64, Type::float32});
    const int64_t rows = x.shape(0), columns = x.shape(1);
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    Result<double> results[statistics][2] = {
        {{"zeros", columns, k}, {"zeros", columns, k}},
        {{"zeros", columns, k}, {"zeros", columns, k}},
        {{"zeros", columns, k}, {"zeros", columns, k}},
    };
    if (rows && columns) {
        nb::gil_scoped_release released;
        visit_floats(x, [&](auto* cells) {
            const Matrix<std::remove_const_t<std::remove_pointer_t<decltype(cells)>>> matrix{
                cells, rows, columns, x.stride(0), x.stride(1)};
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

}  // namespace naively
