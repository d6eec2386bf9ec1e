// Scores of dense rows: a form of every cell, linear or quadratic, summed over the columns.
//
// Eight rows go by a tile of classes whose sums stay in registers; the tables are rearranged for
// this once, tile by tile. The few rows that come out as NaN (a missing cell, or zero times an
// infinite slope) are scored again, cell by cell; and those that overflow once more, clipped as
// kernels/reference.py says.
//
// A Form says what a cell x adds to each class. It has `tables` tables of shape (columns, classes);
// tiled(table, entry) is how an entry is kept for add(sum, x, entries), which adds to sums of
// several classes; add(sum, x, tables, cell) adds to the sum of one; clipped(x, ...) is what is
// added where sums overflow; zero_adds_nothing says whether a cell that is 0 may be passed over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "dense.h"
#include "overflow.h"
#include "scores.h"
#include "threads.h"

namespace naively {

// The parameters as they come: (columns, classes). offset may be null. If the rows are to be
// complete, a cell that is NaN or infinite is an error.
struct Parameters {
    const double* tables[2];
    const double* offset;
    int64_t columns, classes;
    bool complete;
};

constexpr int64_t tile_classes(int64_t left) { return left > 4 ? 8 : left > 2 ? 4 : 2; }

// The tables rearranged: for each tile of classes, for each column, the tile's entries of each
// table; a tile that reaches beyond the last class is filled up with zeros.
template <class Form>
class TiledTables {
  public:
    explicit TiledTables(const Parameters& parameters) {
        const int64_t k = parameters.classes;
        cells_.reserve((k + 3) * Form::tables * parameters.columns);
        for (int64_t first = 0; first < k; first += tile_classes(k - first)) {
            const int64_t width = tile_classes(k - first);
            for (int64_t j = 0; j < parameters.columns; ++j)
                for (int table = 0; table < Form::tables; ++table)
                    for (int64_t c = first; c < first + width; ++c)
                        cells_.push_back(
                            c < k ? Form::tiled(table, parameters.tables[table][j * k + c]) : 0.0);
        }
    }
    const double* data() const { return cells_.data(); }

  private:
    std::vector<double> cells_;
};

constexpr int64_t group = 8;  // rows

// Add `rows` rows of cells to the classes of one tile.
template <class Isa, class Form, int width, int rows, class T>
NAIVELY_INLINE inline void add_tile(const T* cells, int64_t row_stride, int64_t columns,
                                    const double* tables, double* joint, int64_t classes,
                                    int64_t used) {
    constexpr int lanes = std::min(Isa::lanes, width);
    constexpr int vectors = width / lanes;
    using V = Vector<double, lanes>;
    V sums[rows][vectors] = {};
    for (int64_t j = 0; j < columns; ++j) {
        V entries[vectors][Form::tables];
        NAIVELY_UNROLL
        for (int table = 0; table < Form::tables; ++table)
            NAIVELY_UNROLL
            for (int v = 0; v < vectors; ++v)
                entries[v][table] =
                    load<lanes>(tables + (j * Form::tables + table) * width + v * lanes);
        NAIVELY_UNROLL
        for (int row = 0; row < rows; ++row) {
            const V x = broadcast<lanes>(static_cast<double>(cells[row * row_stride + j]));
            NAIVELY_UNROLL
            for (int v = 0; v < vectors; ++v)
                sums[row][v] = Form::template add<Isa, lanes>(sums[row][v], x, entries[v]);
        }
    }
    NAIVELY_UNROLL
    for (int row = 0; row < rows; ++row) {
        double sum[width];
        NAIVELY_UNROLL
        for (int v = 0; v < vectors; ++v) store<lanes>(sum + v * lanes, sums[row][v]);
        for (int64_t c = 0; c < used; ++c) joint[row * classes + c] += sum[c];
    }
}

// Add a group of rows to the classes of one tile, as many at a time as registers hold the sums of.
template <class Isa, class Form, int width, class T>
NAIVELY_INLINE inline void add_group(const T* cells, int64_t row_stride,
                                     const Parameters& parameters, const double* tables,
                                     double* joint, int64_t used) {
    constexpr int vectors = width / std::min(Isa::lanes, width);
    constexpr int rows = std::max(2, 8 / vectors);
    for (int64_t row = 0; row < group; row += rows)
        add_tile<Isa, Form, width, rows>(cells + row * row_stride, row_stride, parameters.columns,
                                         tables, joint + row * parameters.classes,
                                         parameters.classes, used);
}

// Add one row, cell by cell, leaving out those that are missing. It rounds as a tile does, so that
// a row's scores do not depend on its neighbours; or, if `clipped`, no sum overflows. `sums` is
// working memory for each class.
template <class Isa, class Form, bool clipped, class T>
NAIVELY_INLINE inline void add_row(const T* cells, int64_t column_stride,
                                   const Parameters& parameters, double* __restrict sums,
                                   double* __restrict joint) {
    const int64_t k = parameters.classes;
    std::fill_n(sums, k, 0.0);
    for (int64_t j = 0; j < parameters.columns; ++j) {
        const auto x = static_cast<double>(cells[j * column_stride]);
        if (x != x) {
            if (parameters.offset)
                for (int64_t c = 0; c < k; ++c) sums[c] -= parameters.offset[j * k + c];
        } else if (!Form::zero_adds_nothing || x != 0.0) {
            for (int64_t c = 0; c < k; ++c)
                if constexpr (clipped)
                    sums[c] += Form::clipped(x, parameters.tables, j * k + c);
                else
                    sums[c] = Form::template add<Isa>(sums[c], x, parameters.tables, j * k + c);
        }
    }
    for (int64_t c = 0; c < k; ++c) joint[c] += sums[c];
}

// Throws unless every cell of a row is finite: x - x is 0 then, and else NaN.
template <class T>
NAIVELY_INLINE inline void check_complete(const T* cells, int64_t column_stride, int64_t columns) {
    bool finite = true;
    for (int64_t j = 0; j < columns; ++j) {
        const T x = cells[j * column_stride];
        finite &= x - x == T{0};
    }
    if (!finite) throw std::invalid_argument("a cell is missing or infinite");
}

template <class T>
struct Rows {
    const T* cells;
    int64_t stride;
    bool prefetch;  // whether as many rows that come next lie behind them, and fit into the cache
};

// Add groups of rows to all classes, a tile after the other. Meanwhile as many rows that come next
// are prefetched, as no rows are read while these are finished. Each width is a function of its own:
// in one for all, GCC keeps the sums in memory.
template <class Form, class T>
void add_groups(const Rows<T>& from, int64_t rows, const Parameters& parameters,
                const double* tables, double* joint) {
    const int64_t k = parameters.classes;
    for (int64_t first = 0; first < k;) {
        const int64_t width = tile_classes(k - first), used = std::min(width, k - first);
        const auto add = [&](auto tile) {
            on_best_instruction_set([&, from, rows, k, tables, first,
                                     used](auto isa) NAIVELY_INLINE {
                for (int64_t row = 0; row < rows; row += group) {
                    const T* cells = from.cells + row * from.stride;
                    if (first == 0 && from.prefetch)
                        for (int64_t i = 0; i < group; ++i)
                            prefetch_range(cells, (rows + i) * from.stride, parameters.columns);
                    add_group<decltype(isa), Form, decltype(tile)::value>(
                        cells, from.stride, parameters, tables, joint + row * k + first, used);
                }
            });
        };
        if (width == 8)
            add(std::integral_constant<int, 8>{});
        else if (width == 4)
            add(std::integral_constant<int, 4>{});
        else
            add(std::integral_constant<int, 2>{});
        tables += width * Form::tables * parameters.columns;
        first += width;
    }
}

template <class Form, class T>
void score_part(const Matrix<T>& matrix, const Parameters& parameters,
                                      const double* tables, const Scores& scores, int64_t begin,
                                      int64_t end) {
    const int64_t k = parameters.classes;
    const bool in_place = matrix.column_stride == 1;
    // Rows at a time: few enough that wide ones stay in the cache.
    const int64_t cached = (1 << 16) / std::max<int64_t>(1, matrix.columns);
    const int64_t most = std::clamp(cached / group * group, group, Finisher::max_rows);
    std::vector<T> packed(in_place || !tables ? 0 : most * matrix.columns);
    std::vector<double> sums(k);
    Finisher finisher(scores.output(), end - begin);
    for (int64_t first = begin; first < end; first += most) {
        const int64_t rows = std::min(most, end - first);
        const int64_t grouped = tables ? rows / group * group : 0;
        double* joint = finisher.rows_at(first);
        scores.copy_starts(first, rows, joint);
        if (grouped) {
            Rows<T> from{matrix.at(first, 0), matrix.row_stride, most <= cached};
            if (!in_place) {
                pack_block(matrix, first, grouped, 0, matrix.columns, packed.data(),
                           matrix.columns);
                from = {packed.data(), matrix.columns, false};
            }
            add_groups<Form>(from, grouped, parameters, tables, joint);
        }
        for (int64_t i = 0; i < rows; ++i) {
            double* row = joint + i * k;
            const double* start = scores.start(first + i);
            const T* cells = matrix.at(first + i, 0);
            if (i < grouped) {
                if (!overflown(row, start, k)) continue;
                std::copy_n(start, k, row);
            }
            // A row whose sums are finite in groups has no such cell.
            if (parameters.complete)
                check_complete(cells, matrix.column_stride, matrix.columns);
            on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                using Isa = decltype(isa);
                const int64_t stride = matrix.column_stride;
                add_row<Isa, Form, false>(cells, stride, parameters, sums.data(), row);
                if (overflown(row, start, k)) {
                    std::copy_n(start, k, row);
                    add_row<Isa, Form, true>(cells, stride, parameters, sums.data(), row);
                }
            });
        }
        finisher.finish(first, rows);
    }
}

template <class Form>
nb::object score_dense(const DenseMatrix& x, const Parameters& parameters, const Scores& scores) {
    {
        nb::gil_scoped_release released;
        // A few rows are not worth rearranging the tables for.
        std::optional<TiledTables<Form>> tables;
        if (scores.rows() >= 2 * group) tables.emplace(parameters);
        const double* tiles = tables ? tables->data() : nullptr;
        const auto operations = static_cast<double>((1 + parameters.columns) * parameters.classes);
        x.visit([&](const auto& matrix) {
            const int parts = count_parts(matrix.rows, operations);
            run_parts(matrix.rows, parts, [&](int64_t begin, int64_t end, int) {
                score_part<Form>(matrix, parameters, tiles, scores, begin, end);
            });
        });
    }
    return scores.object();
}

}  // namespace naively
