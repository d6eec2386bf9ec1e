// What every score kernel is told of its result: what each row starts from, and how it finishes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "arrays.h"
#include "finish.h"

namespace naively {

class Scores {
  public:
    Scores(int64_t rows, int64_t classes, nb::handle start, std::string_view finish,
           nb::handle log_prior)
        : rows_(rows), log_prior_(log_prior, "log_prior", 1), start_(start, "start") {
        if (classes < 1) throw std::invalid_argument("there must be a class");
        log_prior_.require_shape({classes});
        if (start_.dimensions() == 1)
            start_.require_shape({classes});
        else if (start_.dimensions() == 2)
            start_.require_shape({rows, classes});
        else
            throw std::invalid_argument("start must have 1 or 2 dimensions");
        output_.finish = parse_finish(finish);
        output_.classes = classes;
        output_.log_prior = log_prior_.data();
        if (output_.finish == Finish::label)
            output_.labels = labels_.emplace("empty", rows).data();
        else if (is_single(finish))
            output_.single = single_.emplace("empty", rows, classes).data();
        else
            output_.table = table_.emplace("empty", rows, classes).data();
    }

    const Output& output() const { return output_; }
    const double* start(int64_t row) const {
        return start_.data() + (start_.dimensions() == 1 ? 0 : row * output_.classes);
    }
    // Write what some rows start from where they are scored.
    void copy_starts(int64_t first, int64_t rows, double* joint) const {
        constexpr int64_t few = 32;  // classes: a call of memcpy would take longer than the copy
        const int64_t k = output_.classes;
        if (start_.dimensions() > 1 || k > few) {
            for (int64_t i = 0; i < rows; ++i) std::copy_n(start(first + i), k, joint + i * k);
            return;
        }
        for (int64_t c = 0; c < k; ++c)
            for (int64_t i = 0; i < rows; ++i) joint[i * k + c] = start_.data()[c];
    }
    int64_t rows() const { return rows_; }
    int64_t classes() const { return output_.classes; }
    nb::object object() const {
        if (output_.labels) return labels_->object();
        return output_.single ? single_->object() : table_->object();
    }

  private:
    int64_t rows_;
    Doubles log_prior_, start_;
    Output output_{};
    std::optional<Result<double>> table_;
    std::optional<Result<float>> single_;
    std::optional<Result<std::int32_t>> labels_;
};

}  // namespace naively
