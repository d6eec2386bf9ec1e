// take_rows of kernels/sparse.py: some rows of a CSR matrix, whatever its elements are.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "csr_matrix.h"

namespace naively {
namespace {

// The elements of an array of any type, in one dimension, as bytes.
class Items {
  public:
    explicit Items(nb::handle source)
        : source_(nb::module_::import_("numpy").attr("ascontiguousarray")(source)),
          array_(nb::cast<Array>(source_, false)) {
        if (array_.ndim() != 1) throw std::invalid_argument("a matrix has arrays of one dimension");
    }
    int64_t count() const { return static_cast<int64_t>(array_.shape(0)); }
    size_t size_each() const { return array_.itemsize(); }
    const char* data() const { return static_cast<const char*>(array_.data()); }
    nb::object type() const { return source_.attr("dtype"); }

  private:
    using Array = nb::ndarray<nb::ro, nb::device::cpu>;
    nb::object source_;
    Array array_;
};

// Spans of an array one after another, (begin, end) each, as a new array of the same type.
nb::object joined(const Items& items, const std::vector<int64_t>& begins, const int64_t* ends) {
    const auto n = static_cast<int64_t>(begins.size());
    const nb::object made = nb::module_::import_("numpy").attr("empty")(ends[n], items.type());
    auto* const out = static_cast<char*>(nb::cast<nb::ndarray<nb::device::cpu>>(made, false).data());
    const nb::gil_scoped_release released;
    const auto size = static_cast<int64_t>(items.size_each());
    for (int64_t i = 0; i < n; ++i)
        if (ends[i + 1] > ends[i])
            std::memcpy(out + ends[i] * size, items.data() + begins[i] * size,
                        static_cast<size_t>((ends[i + 1] - ends[i]) * size));
    return made;
}

nb::tuple take_rows(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle rows) {
    const Items columns(indices);
    std::optional<Items> numbers;
    if (!data.is_none()) numbers.emplace(data);
    const int64_t entries = numbers ? std::min(columns.count(), numbers->count()) : columns.count();
    const std::vector<int64_t> starts =
        import_row_starts(Integers(indptr, "indptr", 1), entries);
    if (starts.front() < 0) throw std::invalid_argument("indptr is malformed");
    const auto of = static_cast<int64_t>(starts.size()) - 1;
    const Input<Layout::contiguous, int64_t> taken(rows, "rows", 1);
    const int64_t n = taken.shape(0);
    const Result<int64_t> ends("zeros", n + 1);
    std::vector<int64_t> begins(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
        const int64_t row = taken.data()[i];
        if (row < 0 || row >= of) throw std::invalid_argument("a row index is out of range");
        begins[i] = starts[row];
        ends.data()[i + 1] = ends.data()[i] + starts[row + 1] - starts[row];
    }
    return nb::make_tuple(ends.object(), joined(columns, begins, ends.data()),
                          numbers ? joined(*numbers, begins, ends.data()) : nb::none());
}

}  // namespace

void bind_take_rows(nb::module_& m) {
    m.def("take_rows", &take_rows, nb::arg("indptr"), nb::arg("indices"), nb::arg("data").none(),
          nb::arg("rows"));
}

}  // namespace naively
