// Words of Python, as strs or as arrays of UTF-8, made a WordList, and back.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "arrays.h"
#include "text.h"
#include "unicode_table.h"

namespace naively {

[[noreturn]] inline void raise_not_str(const std::string& what, PyObject* item) {
    throw nb::type_error((what + " is not a str but " + Py_TYPE(item)->tp_name).c_str());
}

inline void append_word(PyObject* str, WordList& words) {
    const nb::object utf8 = nb::steal(PyUnicode_AsEncodedString(str, "utf-8", "surrogatepass"));
    if (!utf8.is_valid()) throw nb::python_error();
    const char* begin = PyBytes_AS_STRING(utf8.ptr());
    words.bytes.insert(words.bytes.end(), begin, begin + PyBytes_GET_SIZE(utf8.ptr()));
    words.end_word();
}

// Reads the table that folding needs, the first time; the GIL is held.
inline void read_unicode_table() {
    if (UnicodeTable::is_read()) return;
    const nb::object table = nb::module_::import_("naively.kernels.folding").attr("table_text")();
    UnicodeTable::read(nb::cast<std::string>(table));
}

inline WordList words_of(nb::handle words) {
    const nb::object held = nb::steal(PySequence_Tuple(words.ptr()));  // which cannot change
    if (!held.is_valid()) throw nb::python_error();
    WordList list;
    for (size_t i = 0; i < nb::len(held); ++i) {
        PyObject* item = PyTuple_GET_ITEM(held.ptr(), static_cast<Py_ssize_t>(i));
        if (!PyUnicode_Check(item)) raise_not_str("word " + std::to_string(i), item);
        append_word(item, list);
    }
    return list;
}

inline nb::object decoded(Bytes utf8) {
    const char* bytes = reinterpret_cast<const char*>(utf8.begin);
    nb::object str = nb::steal(
        PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(utf8.length), "surrogatepass"));
    if (!str.is_valid()) throw nb::python_error();
    return str;
}

// Sizes of parts, which fill so much.
inline const int64_t* checked_sizes(const Input<Layout::contiguous, int64_t>& sizes,
                                    int64_t total) {
    int64_t left = total;
    for (int64_t i = 0; i < sizes.shape(0); ++i) {
        const int64_t size = sizes.data()[i];
        if (size < 0 || size > left) throw std::invalid_argument("words do not fill what holds them");
        left -= size;
    }
    if (left != 0) throw std::invalid_argument("words do not fill what holds them");
    return sizes.data();
}

// The words among the arrays of kernels/vocabulary.py, checked.
inline WordList words_of_arrays(nb::handle utf8_array, nb::handle lengths_array) {
    using ByteArray = Input<Layout::contiguous, uint8_t>;
    using Lengths = Input<Layout::contiguous, int64_t>;
    if (!ByteArray::fits(utf8_array, 1) || !Lengths::fits(lengths_array, 1))
        throw std::invalid_argument(
            "words must be uint8 and their lengths int64, in one dimension");
    const ByteArray byte_array(utf8_array, "utf8");
    const Lengths lengths(lengths_array, "lengths");
    const int64_t bytes = byte_array.shape(0);
    const int64_t* length = checked_sizes(lengths, bytes);
    const Bytes utf8{byte_array.data(), static_cast<size_t>(bytes)};
    try {
        decoded(utf8);
    } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_UnicodeDecodeError)) throw;
        throw std::invalid_argument("a word is not UTF-8");
    }
    WordList words{{utf8.begin, utf8.begin + bytes}, {}};
    words.ends.reserve(static_cast<size_t>(lengths.shape(0)));
    int64_t end = 0;
    for (int64_t i = 0; i < lengths.shape(0); ++i) {
        end += length[i];
        if (end < bytes && (utf8.begin[end] & 0xC0) == 0x80)
            throw std::invalid_argument("a word is not UTF-8");
        words.ends.push_back(static_cast<size_t>(end));
    }
    return words;
}

}  // namespace naively
