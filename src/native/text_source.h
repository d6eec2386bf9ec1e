// A sequence of Python strs, or lists of them, made readable without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "text_words.h"

namespace naively {

[[noreturn]] inline void raise_not_str(const char* what, size_t position, PyObject* item) {
    const std::string message = std::string(what) + " " + std::to_string(position) +
                                " is not a str but " + Py_TYPE(item)->tp_name;
    throw nanobind::type_error(message.c_str());
}

// The UTF-8 of a str, as Word has it, is appended to `bytes`.
inline void append_word_bytes(PyObject* str, std::vector<uint8_t>& bytes) {
    const nanobind::object utf8 =
        nanobind::steal(PyUnicode_AsEncodedString(str, "utf-8", "surrogatepass"));
    if (!utf8.is_valid()) throw nanobind::python_error();
    const char* begin = PyBytes_AS_STRING(utf8.ptr());
    const size_t length = static_cast<size_t>(PyBytes_GET_SIZE(utf8.ptr()));
    const size_t before = bytes.size();
    bytes.resize(before + length);
    for (size_t i = 0; i < length; ++i)
        bytes[before + i] = swap_underscore(static_cast<uint8_t>(begin[i]));
}

// Holds the str objects (their characters never change or move) for as long as it lives.
class TextSource {
  public:
    // A row may be a list of words only if `lists` says so.
    TextSource(const nanobind::sequence& texts, bool lowercase, bool lists)
        : lowercase_(lowercase), lists_(lists), held_(nanobind::steal(PySequence_Tuple(texts.ptr()))) {
        if (!held_.is_valid()) throw nanobind::python_error();
        const size_t n = static_cast<size_t>(PyTuple_GET_SIZE(held_.ptr()));
        texts_.reserve(n);
        for (size_t i = 0; i < n; ++i) {
            PyObject* item = PyTuple_GET_ITEM(held_.ptr(), static_cast<Py_ssize_t>(i));
            texts_.push_back(item == Py_None ? Text{} : text_of(item, i));
            characters_ += texts_.back().length;
        }
    }

    size_t size() const { return texts_.size(); }
    const Text& operator[](size_t i) const { return texts_[i]; }
    size_t characters() const { return characters_; }

  private:
    bool lowercase_, lists_;
    nanobind::object held_;
    std::deque<WordList> words_;
    std::vector<nanobind::object> lowered_;
    std::vector<Text> texts_;
    size_t characters_ = 0;

    static Text characters_of(PyObject* str) {
        const int bytes_each = PyUnicode_IS_ASCII(str) ? 0 : static_cast<int>(PyUnicode_KIND(str));
        return {PyUnicode_DATA(str), static_cast<size_t>(PyUnicode_GET_LENGTH(str)), bytes_each};
    }

    Text text_of(PyObject* item, size_t position) {
        if (lists_ && (PyList_Check(item) || PyTuple_Check(item)))
            return words_of(item, position);
        if (!PyUnicode_Check(item)) raise_not_str("text", position, item);
        const Text text = characters_of(item);
        const bool full =
            lowercase_ &&
            ((text.bytes_each == 2 &&
              needs_full_lowering(static_cast<const Py_UCS2*>(text.characters), text.length)) ||
             (text.bytes_each == 4 &&
              needs_full_lowering(static_cast<const Py_UCS4*>(text.characters), text.length)));
        if (!full) return text;
        PyObject* str_type = reinterpret_cast<PyObject*>(&PyUnicode_Type);
        lowered_.push_back(nanobind::steal(PyObject_CallMethod(str_type, "lower", "O", item)));
        if (!lowered_.back().is_valid()) throw nanobind::python_error();
        return characters_of(lowered_.back().ptr());
    }

    Text words_of(PyObject* item, size_t position) {
        const nanobind::object words = nanobind::steal(PySequence_Tuple(item));  // cannot change
        if (!words.is_valid()) throw nanobind::python_error();
        WordList& list = words_.emplace_back();
        const Py_ssize_t n = PyTuple_GET_SIZE(words.ptr());
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* word = PyTuple_GET_ITEM(words.ptr(), i);
            if (!PyUnicode_Check(word)) {
                const std::string message = "word " + std::to_string(i) + " of text " +
                                            std::to_string(position) + " is not a str but " +
                                            Py_TYPE(word)->tp_name;
                throw nanobind::type_error(message.c_str());
            }
            append_word_bytes(word, list.bytes);
            list.ends.push_back(list.bytes.size());
        }
        list.spaced = std::find(list.bytes.begin(), list.bytes.end(), ' ') != list.bytes.end();
        Text text;
        text.length = list.bytes.size() + list.ends.size();
        text.words = &list;
        return text;
    }
};

}  // namespace naively
