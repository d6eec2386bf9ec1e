// pack_strings of kernels/strings.py: the UTF-8 of Python's str objects, joined.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "growing_array.h"
#include "strings.h"
#include "threads.h"
#include "utf8.h"

namespace naively {
namespace {

// A list, a tuple or an array of objects as it is; anything else as a tuple.
nb::object readable_cells(nb::handle cells) {
    const nb::object array_type = nb::module_::import_("numpy").attr("ndarray");
    const bool objects = cells.type().is(array_type) && nb::cast<int>(cells.attr("ndim")) == 1 &&
                         cells.attr("dtype").attr("char").equal(nb::str("O"));
    if (objects || PyList_CheckExact(cells.ptr()) || PyTuple_CheckExact(cells.ptr()))
        return nb::borrow(cells);
    nb::object held = nb::steal(PySequence_Tuple(cells.ptr()));
    if (!held.is_valid()) throw nb::python_error();
    return held;
}

// Pointers to the cells of what readable_cells returned. They are good as long as nothing else of
// Python runs.
class Cells {
  public:
    explicit Cells(nb::handle cells) {
        if (PyList_CheckExact(cells.ptr()) || PyTuple_CheckExact(cells.ptr())) {
            first_ = reinterpret_cast<const char*>(PySequence_Fast_ITEMS(cells.ptr()));
            rows_ = PySequence_Fast_GET_SIZE(cells.ptr());
            return;
        }
        if (PyObject_GetBuffer(cells.ptr(), &array_, PyBUF_STRIDES | PyBUF_FORMAT) != 0)
            throw nb::python_error();
        first_ = static_cast<const char*>(array_.buf);
        rows_ = array_.shape[0];
        stride_ = array_.strides[0];
    }
    ~Cells() {
        if (array_.obj != nullptr) PyBuffer_Release(&array_);
    }
    Cells(const Cells&) = delete;
    Cells& operator=(const Cells&) = delete;

    int64_t rows() const { return rows_; }

    PyObject* operator[](int64_t row) const {
        PyObject* cell;
        std::memcpy(&cell, first_ + row * stride_, sizeof cell);
        return cell;
    }

  private:
    Py_buffer array_{};
    const char* first_;
    int64_t rows_, stride_ = sizeof(PyObject*);
};

template <class Character>
uint8_t* write_characters(const Character* text, int64_t length, uint8_t* out) {
    for (int64_t i = 0; i < length; ++i) out += write_utf8(text[i], out);
    return out;
}

// Calls work with the characters of a str that are not all ASCII, as numbers of 1, 2 or 4 bytes.
template <class Work>
auto visit_characters(PyObject* str, const Work& work) {
    const void* text = PyUnicode_DATA(str);
    const int64_t length = PyUnicode_GET_LENGTH(str);
    switch (PyUnicode_KIND(str)) {
        case PyUnicode_1BYTE_KIND: return work(static_cast<const Py_UCS1*>(text), length);
        case PyUnicode_2BYTE_KIND: return work(static_cast<const Py_UCS2*>(text), length);
        default: return work(static_cast<const Py_UCS4*>(text), length);
    }
}

bool is_missing(PyObject* cell) {
    if (cell == nullptr || cell == Py_None) return true;  // NumPy takes a null for None
    return PyFloat_Check(cell) && PyFloat_AS_DOUBLE(cell) != PyFloat_AS_DOUBLE(cell);
}

enum class Found { nothing, missing, others };

// The most bytes in UTF-8, and the flags of missing ones; the cells up to the last are fetched ahead.
Found measure_cells(const Cells& cells, int64_t begin, int64_t end, int64_t last, int64_t* lengths,
                    bool* missing) {
    constexpr int64_t AHEAD = 16;  // cells: objects lie anywhere, and are fetched before
    Found found = Found::nothing;
    for (int64_t row = begin; row < end; ++row) {
        if (row + AHEAD < last) {
            const char* object = reinterpret_cast<const char*>(cells[row + AHEAD]);
            __builtin_prefetch(object);
            __builtin_prefetch(object + 63);
        }
        PyObject* cell = cells[row];
        lengths[row] = 0;
        if (is_missing(cell)) {
            missing[row] = true;
            found = Found::missing;
        } else if (!PyUnicode_Check(cell)) {
            return Found::others;
        } else if (PyUnicode_IS_ASCII(cell)) {
            lengths[row] = PyUnicode_GET_LENGTH(cell);
        } else {
            lengths[row] = PyUnicode_GET_LENGTH(cell) * (PyUnicode_KIND(cell) == 1 ? 2 : 4);
        }
    }
    return found;
}

// Writes the strings one after another, and their lengths; returns all bytes.
size_t write_cells(const Cells& cells, int64_t begin, int64_t end, int64_t* lengths, uint8_t* out) {
    uint8_t* const first = out;
    for (int64_t row = begin; row < end; out += lengths[row++]) {
        if (lengths[row] == 0) continue;
        PyObject* cell = cells[row];
        if (PyUnicode_IS_ASCII(cell))
            std::memcpy(out, PyUnicode_DATA(cell), static_cast<size_t>(lengths[row]));
        else
            lengths[row] = visit_characters(cell, [&](auto* text, int64_t characters) {
                return write_characters(text, characters, out) - out;
            });
    }
    return static_cast<size_t>(out - first);
}

// The strings of some rows, whose lengths are written at the places of their ends.
struct Packed {
    GrowingArray<std::uint8_t> utf8;
    Found found = Found::nothing;

    // So many cells at once that they are still cached when they are copied.
    void pack(const Cells& cells, int64_t begin, int64_t end, int64_t* ends, bool* missing) {
        constexpr int64_t AT_ONCE = 128;
        for (int64_t row = begin; row < end && found != Found::others; row += AT_ONCE) {
            const int64_t until = std::min(row + AT_ONCE, end);
            const Found here = measure_cells(cells, row, until, end, ends, missing);
            found = std::max(found, here);
            if (here == Found::others) return;
            const int64_t most = std::accumulate(ends + row, ends + until, int64_t{0});
            utf8.grow_by(write_cells(cells, row, until, ends, utf8.room_for(static_cast<size_t>(most))));
        }
    }
};

// The GIL is held, and nothing of Python is called from the first look at the cells to the last: so
// they stay as they are, and other threads can read them too.
nb::object pack_strings(nb::handle object) {
    const nb::object held = readable_cells(object);
    const auto rows = static_cast<int64_t>(nb::len(held));
    const Result<int64_t> offsets("empty", rows + 1);
    const Result<bool> missing("zeros", rows);
    const Cells cells(held);
    if (cells.rows() != rows) throw std::invalid_argument("the cells change while they are read");
    std::vector<Packed> parts(count_parts(rows, 20.0));
    run_parts(rows, static_cast<int>(parts.size()), [&](int64_t begin, int64_t end, int part) {
        parts[part].pack(cells, begin, end, offsets.data() + 1, missing.data());
    });
    Found found = Found::nothing;
    for (const Packed& part : parts) found = std::max(found, part.found);
    if (found == Found::others) return nb::none();
    add_up(offsets.data(), rows);
    GrowingArray<std::uint8_t>& utf8 = parts[0].utf8;
    for (size_t part = 1; part < parts.size(); ++part) {
        const GrowingArray<std::uint8_t>& more = parts[part].utf8;
        std::copy(more.begin(), more.end(), utf8.room_for(more.size()));
        utf8.grow_by(more.size());
    }
    return make_strings(offsets.object(), utf8.released(),
                        found == Found::missing ? missing.object() : nb::none());
}

}  // namespace

void bind_pack_strings(nb::module_& m) {
    m.def("pack_strings", &pack_strings, nb::arg("cells"));
}

}  // namespace naively
