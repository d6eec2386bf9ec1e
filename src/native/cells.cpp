// Counts of numbers by cell (a prefix of the number itself) and class, and the bins of numbers: the
// kernels of kernels/cells.py.
//
// Each column has an open-addressing table of up to twice as many cells as are asked for. When there
// is no more room, all keys lose as few bits as leave half of them, and cells that become one are
// added; as many bits would have been lost anyway, and it happens a few times only.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "dense.h"
#include "kernels.h"
#include "table_sums.h"
#include "tally_rows.h"
#include "threads.h"

namespace naively {
namespace {

constexpr int64_t group_columns = 8;  // a cache line of a row
constexpr int64_t block_rows = 1024;

// Whole numbers in the order of x, whose leading bits are those of x (-0 is 0).
NAIVELY_INLINE inline int64_t number_key(double x) {
    x += 0.0;
    int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits ^ ((bits >> 63) & std::numeric_limits<int64_t>::max());
}

// The cells of one column with their sums by class.
template <class Sum>
class CellTable {
  public:
    CellTable(int64_t cap, int64_t classes) : cap_(cap), classes_(classes) { resize(32); }

    int64_t lost() const { return lost_; }
    int64_t size() const { return static_cast<int64_t>(keys_.size()); }

    NAIVELY_INLINE inline void add_number(double x, std::int32_t c, double weight) {
        const int64_t key = number_key(x) >> lost_;
        std::size_t slot = place(key);
        while (cell_[slot] != empty && key_[slot] != key) slot = (slot + 1) & mask_;
        if (cell_[slot] == empty) return add_cell(key, c, weight);
        add(sums_[cell_[slot] * classes_ + c], weight);
    }

    // Add what another part of the rows has counted.
    void merge_with(CellTable& other) {
        if (lost_ < other.lost_) lose(other.lost_ - lost_, order());
        if (other.lost_ < lost_) other.lose(lost_ - other.lost_, other.order());
        for (std::size_t from = 0; from < other.keys_.size(); ++from) {
            // Room is made as for a number; the other's keys then lose as many bits.
            const int64_t to = find_or_add(other.keys_[from] >> (lost_ - other.lost_));
            for (int64_t c = 0; c < classes_; ++c)
                merge(sums_[to * classes_ + c], other.sums_[from * classes_ + c]);
        }
    }

    // Leave at most the cells that were asked for, in the order of their keys.
    void finish() { make_room(); }

    int64_t key(int64_t cell) const { return keys_[cell]; }
    const Sum* sums(int64_t cell) const { return sums_.data() + cell * classes_; }

  private:
    using KeyOfCell = std::pair<int64_t, std::int32_t>;
    static constexpr std::int32_t empty = -1;

    NAIVELY_INLINE inline std::size_t place(int64_t key) const {
        return (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> place_shift_;
    }

    __attribute__((noinline)) void add_cell(int64_t key, std::int32_t c, double weight) {
        add(sums_[find_or_add(key) * classes_ + c], weight);
    }

    // The cell of a key that has lost as many bits as the table has now.
    int64_t find_or_add(int64_t key) {
        std::size_t slot = find(key);
        if (cell_[slot] != empty) return cell_[slot];
        if (size() < 2 * cap_) return insert(slot, key);
        const int64_t before = lost_;
        insert(slot, key);
        make_room();
        return cell_[find(key >> (lost_ - before))];
    }

    std::size_t find(int64_t key) const {
        std::size_t slot = place(key);
        while (cell_[slot] != empty && key_[slot] != key) slot = (slot + 1) & mask_;
        return slot;
    }

    int64_t insert(std::size_t slot, int64_t key) {
        const int64_t cell = size();
        cell_[slot] = static_cast<std::int32_t>(cell);
        key_[slot] = key;
        keys_.push_back(key);
        sums_.resize(keys_.size() * classes_);
        if (2 * keys_.size() > cell_.size()) resize(2 * cell_.size());
        return cell;
    }

    void resize(std::size_t slots) {
        mask_ = slots - 1;
        place_shift_ = 64;
        for (std::size_t s = slots; s > 1; s /= 2) --place_shift_;
        key_.resize(slots);
        cell_.resize(slots);
        fill_slots();
    }

    void fill_slots() {
        std::fill(cell_.begin(), cell_.end(), empty);
        for (std::size_t cell = 0; cell < keys_.size(); ++cell) {
            const std::size_t slot = find(keys_[cell]);
            cell_[slot] = static_cast<std::int32_t>(cell);
            key_[slot] = keys_[cell];
        }
    }

    // The cells in the order of their keys.
    std::vector<KeyOfCell> order() const {
        std::vector<KeyOfCell> order(keys_.size());
        for (std::size_t cell = 0; cell < keys_.size(); ++cell)
            order[cell] = {keys_[cell], static_cast<std::int32_t>(cell)};
        std::sort(order.begin(), order.end());
        return order;
    }

    void make_room() {
        const std::vector<KeyOfCell> sorted = order();
        lose(count_bits_to_lose(sorted), sorted);
    }

    // How few bits the keys can lose for at most cap_ to be left. Neighbours become one as soon as
    // the highest bit that tells them apart is gone.
    int64_t count_bits_to_lose(const std::vector<KeyOfCell>& order) const {
        int64_t apart[65] = {};  // by the number of bits to lose
        for (std::size_t i = 1; i < order.size(); ++i) {
            const auto bits = static_cast<std::uint64_t>(order[i].first ^ order[i - 1].first);
            ++apart[64 - __builtin_clzll(bits)];
        }
        int64_t left = 1, lost = 64;
        while (lost > 0 && left + apart[lost] <= cap_) left += apart[lost--];
        return lost;
    }

    // Take bits from every key, add the cells that become one, and put the rest in order.
    void lose(int64_t bits, const std::vector<KeyOfCell>& order) {
        std::vector<int64_t> keys;
        std::vector<Sum> sums;
        for (const auto& [whole, cell] : order) {
            const int64_t key = whole >> bits;
            const Sum* from = sums_.data() + cell * classes_;
            if (keys.empty() || keys.back() != key) {
                keys.push_back(key);
                sums.insert(sums.end(), from, from + classes_);
            } else {
                for (int64_t c = 0; c < classes_; ++c)
                    merge(sums[sums.size() - classes_ + c], from[c]);
            }
        }
        keys_.swap(keys);
        sums_.swap(sums);
        lost_ += bits;
        fill_slots();
    }

    int64_t cap_, classes_, lost_ = 0;
    std::size_t mask_ = 0;
    int place_shift_ = 64;
    std::vector<int64_t> key_;  // by slot
    std::vector<std::int32_t> cell_;
    std::vector<int64_t> keys_;  // by cell
    std::vector<Sum> sums_;      // [cell][class]
};

template <class Sum>
using CellTables = std::vector<CellTable<Sum>>;  // of each column

template <class Sum, class T>
void add_cell_rows(const Matrix<T>& matrix, const std::int32_t* y, const double* w, int64_t begin,
                   int64_t end, CellTables<Sum>& tables) {
    std::vector<T> packed(group_columns * block_rows);
    const Matrix<T> turned{matrix.data, matrix.columns, matrix.rows, matrix.column_stride,
                           matrix.row_stride};
    for (int64_t column = 0; column < matrix.columns; column += group_columns) {
        const int64_t columns = std::min(group_columns, matrix.columns - column);
        for (int64_t row = begin; row < end; row += block_rows) {
            const int64_t rows = std::min(block_rows, end - row);
            pack_block(turned, column, columns, row, rows, packed.data(), block_rows);
            for (int64_t j = 0; j < columns; ++j) {
                const T* x = packed.data() + j * block_rows;
                CellTable<Sum>& table = tables[column + j];
                for (int64_t i = 0; i < rows; ++i) {
                    const double weight = w ? w[row + i] : 1.0;
                    if (x[i] == x[i] && weight > 0.0)
                        table.add_number(static_cast<double>(x[i]), y[row + i], weight);
                }
            }
        }
    }
}

// The cells of all rows.
template <class Sum, class T>
CellTables<Sum> count_cells(const Matrix<T>& matrix, const std::int32_t* y, const double* w,
                            int64_t k, int64_t cap) {
    const double per_row = 4.0 * static_cast<double>(matrix.columns);
    // Each thread's tables are merged: not worth it for fewer rows than cells.
    const int parts = static_cast<int>(std::min<int64_t>(count_parts(matrix.rows, per_row),
                                                         1 + matrix.rows / (4 * cap)));
    std::vector<CellTables<Sum>> tables(
        parts, CellTables<Sum>(matrix.columns, CellTable<Sum>(cap, k)));
    run_parts(matrix.rows, parts, [&](int64_t begin, int64_t end, int part) {
        add_cell_rows(matrix, y, w, begin, end, tables[part]);
    });
    for (int64_t j = 0; j < matrix.columns; ++j) {
        for (int part = 1; part < parts; ++part) tables[0][j].merge_with(tables[part][j]);
        tables[0][j].finish();
    }
    return std::move(tables[0]);
}

// (shifts, first, keys, (high, low)), low being None of whole numbers.
template <class Sum>
nb::object export_cells(const CellTables<Sum>& tables, int64_t k) {
    const auto columns = static_cast<int64_t>(tables.size());
    Result<int64_t> shifts("empty", columns), first("empty", columns + 1);
    first.data()[0] = 0;
    for (int64_t j = 0; j < columns; ++j) {
        shifts.data()[j] = tables[j].lost();
        first.data()[j + 1] = first.data()[j] + tables[j].size();
    }
    const int64_t rows = first.data()[columns];
    Result<int64_t> keys("empty", rows);
    Result<double> high("empty", rows, k);
    const auto fill = [&](const auto& put) {
        for (int64_t j = 0; j < columns; ++j) {
            for (int64_t cell = 0; cell < tables[j].size(); ++cell) {
                const int64_t row = first.data()[j] + cell;
                keys.data()[row] = tables[j].key(cell);
                for (int64_t c = 0; c < k; ++c) put(row * k + c, tables[j].sums(cell)[c]);
            }
        }
    };
    nb::object rest = nb::none();
    if constexpr (std::is_same_v<Sum, double>) {
        fill([&](int64_t at, double sum) { high.data()[at] = sum; });
    } else {
        Result<double> low("empty", rows, k);
        fill([&](int64_t at, const Sum& sum) { finish(sum, high.data()[at], low.data()[at]); });
        rest = low.object();
    }
    return nb::make_tuple(shifts.object(), first.object(), keys.object(),
                          nb::make_tuple(high.object(), rest));
}

}  // namespace

nb::object tally_cells(nb::handle values, nb::handle y, nb::handle w, int64_t k, int64_t cap) {
    const DenseMatrix x(values, "values");
    const int64_t rows = x.rows();
    if (cap < 4 || cap > std::numeric_limits<std::int32_t>::max() / 4)
        throw nb::value_error("a column must have room for four cells");
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const Wholeness seen = look_at_weights(weights.data(), rows);
    const auto count_as = [&](auto zero) {
        using Sum = decltype(zero);
        CellTables<Sum> tables;
        {
            nb::gil_scoped_release released;
            x.visit([&](const auto& matrix) {
                tables = count_cells<Sum>(matrix, classes.data(), weights.data(), k, cap);
            });
        }
        return export_cells(tables, k);
    };
    const bool whole = seen.whole && seen.largest * static_cast<double>(rows) <= exact_limit;
    return whole ? count_as(double{}) : count_as(Sum{});
}

namespace {

// Each column's edges, filled up with NaN to one less than a power of two: every number takes the
// same steps, and is never at or above what was filled in.
struct PaddedEdges {
    int64_t steps;
    std::vector<double> edges;

    PaddedEdges(const double* from, int64_t count) : steps(0) {
        while ((int64_t{1} << steps) <= count) ++steps;
        edges.assign((int64_t{1} << steps) - 1, std::numeric_limits<double>::quiet_NaN());
        std::copy_n(from, count, edges.begin());
    }
};

template <class T>
NAIVELY_INLINE inline void find_rows(const Matrix<T>& matrix,
                                     const std::vector<PaddedEdges>& edges, int64_t begin,
                                     int64_t end, std::int32_t* codes) {
    std::vector<T> packed(group_columns * block_rows);
    std::vector<std::int32_t> found(block_rows);
    const Matrix<T> turned{matrix.data, matrix.columns, matrix.rows, matrix.column_stride,
                           matrix.row_stride};
    for (int64_t row = begin; row < end; row += block_rows) {
        const int64_t rows = std::min(block_rows, end - row);
        for (int64_t column = 0; column < matrix.columns; column += group_columns) {
            const int64_t columns = std::min(group_columns, matrix.columns - column);
            pack_block(turned, column, columns, row, rows, packed.data(), block_rows);
            for (int64_t j = 0; j < columns; ++j) {
                const T* x = packed.data() + j * block_rows;
                const double* edge = edges[column + j].edges.data();
                std::fill_n(found.begin(), rows, 0);
                for (int64_t step = edges[column + j].steps; step > 0; --step) {
                    const std::int32_t half = std::int32_t{1} << (step - 1);
                    for (int64_t i = 0; i < rows; ++i)
                        found[i] += edge[found[i] + half - 1] <= x[i] ? half : 0;
                }
                for (int64_t i = 0; i < rows; ++i)
                    codes[(row + i) * matrix.columns + column + j] = x[i] == x[i] ? found[i] : -1;
            }
        }
    }
}

}  // namespace

nb::object find_bins(nb::handle values, nb::handle edges, nb::handle first) {
    const DenseMatrix x(values, "values");
    const Doubles all(edges, "edges", 1);
    const Integers starts(first, "first", 1);
    const int64_t rows = x.rows(), columns = x.columns();
    starts.require_shape({columns + 1});
    std::vector<PaddedEdges> padded;
    padded.reserve(columns);
    starts.visit([&](auto* start) {
        bool wrong = start[0] < 0 || start[columns] > all.shape(0);
        for (int64_t j = 0; j < columns; ++j) wrong |= start[j] > start[j + 1];
        if (wrong) throw nb::value_error("the first edges must not decrease");
        for (int64_t j = 0; j < columns; ++j)
            padded.emplace_back(all.data() + start[j], start[j + 1] - start[j]);
    });
    Result<std::int32_t> codes("empty", rows, columns);
    {
        nb::gil_scoped_release released;
        x.visit([&](const auto& matrix) {
            const int parts = count_parts(rows, 4.0 * static_cast<double>(columns));
            run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
                on_best_instruction_set([&](auto) NAIVELY_INLINE {
                    find_rows(matrix, padded, begin, end, codes.data());
                });
            });
        });
    }
    return codes.object();
}

}  // namespace naively
