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

// Whether str.lower() does more than map each character to one: it does for capital I with a dot
// (two characters) and capital sigma (which depends on its neighbours).
template <class Character>
bool needs_full_lowering(const Character* text, size_t n) {
    bool found = false;
    for (size_t i = 0; i < n; ++i) found |= (text[i] == 0x0130) | (text[i] == 0x03A3);
    return found;
}

// Holds the str objects (their characters never change or move), or the arrays of Strings, for as
// long as it lives.
class TextSource {
  public:
    // A row may be a list of words only if `lists` says so.
    TextSource(const nb::sequence& texts, bool lowercase, bool lists)
        : lowercase_(lowercase), lists_(lists) {
        if (is_strings(texts))
            read_strings(strings_.emplace(texts));
        else
            read_rows(texts);
        for (const Text& text : texts_) characters_ += text.length;
    }

    size_t size() const { return texts_.size(); }
    const Text& operator[](size_t i) const { return texts_[i]; }
    size_t characters() const { return characters_; }

  private:
    bool lowercase_, lists_;
    nb::object held_;
    std::optional<StringTexts> strings_;
    std::deque<WordList> words_;
    std::vector<nb::object> lowered_;
    std::vector<Text> texts_;
    size_t characters_ = 0;

    static Text characters_of(PyObject* str) {
        const int bytes_each = PyUnicode_IS_ASCII(str) ? 0 : static_cast<int>(PyUnicode_KIND(str));
        return {PyUnicode_DATA(str), static_cast<size_t>(PyUnicode_GET_LENGTH(str)), bytes_each,
                nullptr, false};
    }

    void read_strings(StringTexts& strings) {
        texts_.reserve(strings.size());
        for (size_t i = 0; i < strings.size(); ++i) {
            const Text text = strings.read(i);
            texts_.push_back(text);
            if (!lowers_fully(text)) continue;
            const nb::object str = nb::steal(PyUnicode_FromKindAndData(
                text.bytes_each, text.characters, static_cast<Py_ssize_t>(text.length)));
            if (!str.is_valid()) throw nb::python_error();
            texts_.back() = lowered(str.ptr());
        }
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
        const Text text = characters_of(item);
        return lowers_fully(text) ? lowered(item) : text;
    }

    bool lowers_fully(const Text& text) const {
        if (!lowercase_) return false;
        if (text.bytes_each == 2)
            return needs_full_lowering(static_cast<const Py_UCS2*>(text.characters), text.length);
        return text.bytes_each == 4 &&
               needs_full_lowering(static_cast<const Py_UCS4*>(text.characters), text.length);
    }

    Text lowered(PyObject* str) {
        PyObject* str_type = reinterpret_cast<PyObject*>(&PyUnicode_Type);
        lowered_.push_back(nb::steal(PyObject_CallMethod(str_type, "lower", "O", str)));
        if (!lowered_.back().is_valid()) throw nb::python_error();
        return characters_of(lowered_.back().ptr());
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
