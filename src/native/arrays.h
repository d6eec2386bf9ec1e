// Arrays in and out: what a kernel is given is checked here, so that the kernels see plain
// pointers. NumPy itself converts what does not fit and allocates the results.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "finish.h"

namespace naively {

namespace nb = nanobind;
using std::int64_t;

constexpr int any_dimensions = -1;

enum class Type { float64, float32, int64, int32, int16, int8, other };

// What the buffer protocol lends, given back however its holder ends.
class Buffer {
  public:
    Buffer() = default;
    Buffer(nb::handle source, int flags) { acquire(source, flags); }
    ~Buffer() { release(); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void acquire(nb::handle source, int flags) {
        if (PyObject_GetBuffer(source.ptr(), &view_, flags) != 0) nb::raise_python_error();
    }
    void release() { PyBuffer_Release(&view_); }
    bool is_acquired() const { return view_.obj != nullptr; }
    const Py_buffer& view() const { return view_; }

  private:
    Py_buffer view_{};
};

// A view of any array by the buffer protocol; strides are in elements.
class Array {
  public:
    // An array of another type (or unaligned, or byte-swapped) is converted to the first of types.
    Array(nb::handle source, int dimensions, const char* name, std::initializer_list<Type> types,
          bool contiguous = false)
        : name_(name) {
        if (PyObject_CheckBuffer(source.ptr())) acquire(source);
        const bool fits = buffer_.is_acquired() &&
                          std::find(types.begin(), types.end(), type()) != types.end() &&
                          is_aligned() && (!contiguous || PyBuffer_IsContiguous(&view(), 'C'));
        if (!fits) convert(source, *types.begin(), contiguous);
        if (dimensions != any_dimensions && view().ndim != dimensions)
            throw nb::value_error(
                (std::string(name) + " must have " + std::to_string(dimensions) + " dimensions")
                    .c_str());
    }

    template <class T>
    const T* data() const {
        return static_cast<const T*>(view().buf);
    }
    int64_t shape(int axis) const { return view().shape[axis]; }
    int64_t stride(int axis) const { return view().strides[axis] / view().itemsize; }
    int dimensions() const { return view().ndim; }
    const char* name() const { return name_; }

    Type type() const {
        const char* format = view().format ? view().format : "B";
        if (*format == '@' || *format == '=') ++format;
        if (format[0] == '\0' || format[1] != '\0') return Type::other;
        switch (format[0]) {
            case 'd': return Type::float64;
            case 'f': return Type::float32;
            case 'b': case 'h': case 'i': case 'l': case 'q':
                switch (view().itemsize) {
                    case 8: return Type::int64;
                    case 4: return Type::int32;
                    case 2: return Type::int16;
                    default: return Type::int8;
                }
            default: return Type::other;
        }
    }

    void require_shape(std::initializer_list<int64_t> shape) const {
        int axis = 0;
        for (const int64_t size : shape)
            if (view().shape[axis++] != size)
                throw nb::value_error((std::string("the shape of ") + name_ + " is wrong").c_str());
    }

  private:
    const Py_buffer& view() const { return buffer_.view(); }

    void acquire(nb::handle source) { buffer_.acquire(source, PyBUF_STRIDES | PyBUF_FORMAT); }

    bool is_aligned() const {
        auto odd = reinterpret_cast<std::uintptr_t>(view().buf);
        for (int axis = 0; axis < view().ndim; ++axis)
            odd |= static_cast<std::uintptr_t>(view().strides[axis]);
        return odd % view().itemsize == 0;
    }

    void convert(nb::handle source, Type type, bool contiguous) {
        buffer_.release();
        nb::module_ numpy = nb::module_::import_("numpy");
        const char* dtype = type == Type::float64 ? "float64" : "int64";
        nb::object array = numpy.attr("asarray")(source);
        const char* casting = type == Type::float64 ? "unsafe" : "safe";
        array = array.attr("astype")(dtype, nb::arg("order") = contiguous ? "C" : "K",
                                     nb::arg("casting") = casting);
        acquire(array);
    }

    Buffer buffer_;
    const char* name_;
};

inline Array import_floats(nb::handle source, int dimensions, const char* name) {
    return Array(source, dimensions, name, {Type::float64}, true);
}

// Call work with the array's typed pointer.
template <class Work>
void visit_floats(const Array& array, const Work& work) {
    if (array.type() == Type::float64) return work(array.data<double>());
    work(array.data<float>());
}

template <class Work>
void visit_indices(const Array& array, const Work& work) {
    if (array.type() == Type::int64) return work(array.data<int64_t>());
    work(array.data<std::int32_t>());
}

// y, checked: every entry is a class.
class ClassIndices {
  public:
    ClassIndices(nb::handle source, int64_t rows, int64_t classes)
        : array_(source, 1, "y", {Type::int64, Type::int32}) {
        array_.require_shape({rows});
        if (classes > std::numeric_limits<std::int32_t>::max())
            throw nb::value_error("more classes than 32 bits can number");
        if (array_.type() == Type::int32 && (array_.stride(0) == 1 || rows < 2)) {
            data_ = array_.data<std::int32_t>();
            check(data_, 1, rows, classes);
            return;
        }
        visit_indices(array_, [&](auto* from) {
            check(from, array_.stride(0), rows, classes);
            copy_.resize(rows);
            for (int64_t i = 0; i < rows; ++i)
                copy_[i] = static_cast<std::int32_t>(from[i * array_.stride(0)]);
        });
        data_ = copy_.data();
    }
    const std::int32_t* data() const { return data_; }

  private:
    template <class Index>
    static void check(const Index* y, int64_t stride, int64_t rows, int64_t classes) {
        bool outside = false;
        for (int64_t i = 0; i < rows; ++i) outside |= y[i * stride] < 0 || y[i * stride] >= classes;
        if (outside) throw nb::value_error("a class index is out of range");
    }

    Array array_;
    std::vector<std::int32_t> copy_;
    const std::int32_t* data_ = nullptr;
};

// Sample weights, or null where every row weighs one.
class Weights {
  public:
    Weights(nb::handle source, int64_t rows) {
        if (source.is_none()) return;
        array_.emplace(source, 1, "w", std::initializer_list<Type>{Type::float64}, true);
        array_->require_shape({rows});
    }
    const double* data() const { return array_ ? array_->data<double>() : nullptr; }

  private:
    std::optional<Array> array_;
};

// A result, allocated by NumPy (which knows how to free it, and about huge pages).
template <class T>
class Result {
  public:
    Result(const char* maker, int64_t rows)
        : object_(make(maker, nb::make_tuple(rows))), buffer_(object_, PyBUF_WRITABLE) {}
    Result(const char* maker, int64_t rows, int64_t columns)
        : object_(make(maker, nb::make_tuple(rows, columns))), buffer_(object_, PyBUF_WRITABLE) {}

    T* data() { return static_cast<T*>(buffer_.view().buf); }
    nb::object object() const { return object_; }

  private:
    static nb::object make(const char* maker, nb::tuple shape) {
        const char* dtype = std::is_same_v<T, double>    ? "float64"
                            : std::is_same_v<T, int64_t> ? "int64"
                                                         : "int32";
        return nb::module_::import_("numpy").attr(maker)(shape, dtype);
    }

    nb::object object_;
    Buffer buffer_;
};

// The result of a score kernel, what it starts from, and how it finishes.
class Scores {
  public:
    Scores(int64_t rows, int64_t classes, nb::handle start, std::string_view finish,
           nb::handle log_prior)
        : rows_(rows), log_prior_(import_floats(log_prior, 1, "log_prior")),
          start_(start, any_dimensions, "start", {Type::float64}, true) {
        if (classes < 1) throw nb::value_error("there must be a class");
        log_prior_.require_shape({classes});
        if (start_.dimensions() == 1)
            start_.require_shape({classes});
        else if (start_.dimensions() == 2)
            start_.require_shape({rows, classes});
        else
            throw nb::value_error("start must have 1 or 2 dimensions");
        output_.finish = parse_finish(finish);
        output_.classes = classes;
        output_.log_prior = log_prior_.data<double>();
        if (output_.finish == Finish::label)
            output_.labels = labels_.emplace("empty", rows).data();
        else
            output_.table = table_.emplace("empty", rows, classes).data();
    }

    const Output& output() const { return output_; }
    const double* start(int64_t row) const {
        return start_.data<double>() + (start_.dimensions() == 1 ? 0 : row * output_.classes);
    }
    int64_t rows() const { return rows_; }
    int64_t classes() const { return output_.classes; }
    nb::object object() const { return output_.labels ? labels_->object() : table_->object(); }

  private:
    int64_t rows_;
    Array log_prior_, start_;
    Output output_{};
    std::optional<Result<double>> table_;
    std::optional<Result<std::int32_t>> labels_;
};

}  // namespace naively
