// A sequence of Python strs, or lists of them, or Strings, made readable without the GIL.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "python_words.h"
#include "string_texts.h"
#include "text.h"

namespace naively {

// Holds the str objects (those of ASCII are read where they lie: they never change or move), or the
// arrays of Strings, for as long as it lives.
class TextSource {
  public:
    // A row may be a list of words only if `lists` says so.
    TextSource(const nb::sequence& texts, bool lists) : lists_(lists) {
        if (is_strings(texts))
            read_strings(strings_.emplace(texts));
        else
            read_rows(texts);
        for (const Text& text : texts_) length_ += text.length;
    }

    size_t size() const { return texts_.size(); }
    const Text& operator[](size_t i) const { return texts_[i]; }
    size_t length() const { return length_; }  // of all texts, in bytes

  private:
    bool lists_;
    nb::object held_;
    std::optional<StringTexts> strings_;
    std::deque<WordList> words_;
    std::vector<Text> texts_;
    size_t length_ = 0;

    Text characters_of(PyObject* str) {
        if (PyUnicode_IS_ASCII(str))
            return {static_cast<const uint8_t*>(PyUnicode_DATA(str)),
                    static_cast<size_t>(PyUnicode_GET_LENGTH(str)), true, nullptr, false};
        WordList& all = words_.emplace_back();
        append_word(str, all);
        return {all.bytes.data(), all.bytes.size(), false, nullptr, false};
    }

    void read_strings(const StringTexts& strings) {
        texts_.reserve(strings.size());
        for (size_t i = 0; i < strings.size(); ++i) texts_.push_back(strings.read(i));
    }

    void read_rows(const nb::sequence& texts) {
        held_ = nb::steal(PySequence_Tuple(texts.ptr()));
        if (!held_.is_valid()) throw nb::python_error();
        const size_t n = static_cast<size_t>(PyTuple_GET_SIZE(held_.ptr()));
        texts_.reserve(n);
        for (size_t i = 0; i < n; ++i) {
            PyObject* item = PyTuple_GET_ITEM(held_.ptr(), static_cast<Py_ssize_t>(i));
            texts_.push_back(item == Py_None ? Text{} : text_of(item, i));
        }
    }

    Text text_of(PyObject* item, size_t position) {
        if (lists_ && (PyList_Check(item) || PyTuple_Check(item)))
            return list_of(item, position);
        if (!PyUnicode_Check(item)) raise_not_str("text " + std::to_string(position), item);
        return characters_of(item);
    }

    Text list_of(PyObject* item, size_t position) {
        const nb::object words = nb::steal(PySequence_Tuple(item));  // cannot change
        if (!words.is_valid()) throw nb::python_error();
        WordList& list = words_.emplace_back();
        const Py_ssize_t n = PyTuple_GET_SIZE(words.ptr());
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* word = PyTuple_GET_ITEM(words.ptr(), i);
            if (!PyUnicode_Check(word))
                raise_not_str("word " + std::to_string(i) + " of text " + std::to_string(position),
                              word);
            append_word(word, list);
        }
        Text text;
        text.length = list.bytes.size() + list.size();
        text.words = &list;
        text.spaced = std::find(list.bytes.begin(), list.bytes.end(), ' ') != list.bytes.end();
        return text;
    }
};

}  // namespace naively
