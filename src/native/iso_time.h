// Times of ISO 8601, or with slashes, as microseconds since 1970.
#pragma once

#include <cstdint>
#include <limits>

#include "civil.h"
#include "word.h"

namespace naively {

constexpr int64_t NAT = std::numeric_limits<int64_t>::min();

// Reads a string from its start; what is not there is refused, and nothing is passed over then.
class Reader {
  public:
    explicit Reader(Bytes string) : at_(string.begin), end_(at_ + string.length) {}

    bool at_end() const { return at_ == end_; }

    bool take(uint8_t character) {
        if (at_ == end_ || *at_ != character) return false;
        ++at_;
        return true;
    }

    // From `least` to `most` digits, as many as there are; returns how many.
    int digits(int least, int most, int64_t& value) {
        value = 0;
        int count = 0;
        while (count < most && at_ + count != end_ && '0' <= at_[count] && at_[count] <= '9')
            value = 10 * value + (at_[count++] - '0');
        if (count < least) return 0;
        at_ += count;
        return count;
    }
    bool digits(int count, int64_t& value) { return digits(count, count, value) != 0; }

  private:
    const uint8_t *at_, *end_;
};

// Microseconds of what is after the point or comma.
inline bool read_fraction(Reader& reader, int64_t& microseconds) {
    int count = reader.digits(1, 9, microseconds);
    if (count == 0) return false;
    for (; count < 6; ++count) microseconds *= 10;
    for (; count > 6; --count) microseconds /= 10;
    return true;
}

// Minutes from UTC; 0 if nothing is said.
inline bool read_zone(Reader& reader, int64_t& minutes) {
    minutes = 0;
    if (reader.at_end() || reader.take('Z')) return true;
    const bool west = reader.take('-');
    int64_t hours, more = 0;
    if (!west && !reader.take('+')) return false;
    if (!reader.digits(2, hours)) return false;
    if (!reader.at_end()) {
        reader.take(':');
        if (!reader.digits(2, more)) return false;
    }
    minutes = (60 * hours + more) * (west ? -1 : 1);
    return hours <= 23 && more <= 59;
}

// Microseconds since 1970; NAT if a string is no time.
inline int64_t read_iso_time(Bytes string) {
    Reader reader(string);
    int64_t year, month, day, hour = 0, minute = 0, second = 0, fraction = 0, zone = 0;
    if (!reader.digits(4, year)) return NAT;
    const uint8_t separator = reader.take('-') ? '-' : '/';
    if (separator == '/' && !reader.take('/')) return NAT;
    if (!reader.digits(1, 2, month) || !reader.take(separator) || !reader.digits(1, 2, day))
        return NAT;
    if (!reader.at_end()) {
        if (!reader.take('T') && !reader.take(' ')) return NAT;
        if (!reader.digits(2, hour) || !reader.take(':') || !reader.digits(2, minute)) return NAT;
        if (reader.take(':')) {
            if (!reader.digits(2, second)) return NAT;
            if ((reader.take('.') || reader.take(',')) && !read_fraction(reader, fraction))
                return NAT;
        }
        if (!read_zone(reader, zone)) return NAT;
    }
    const bool valid = reader.at_end() && year >= 1 && 1 <= month && month <= 12 && day >= 1 &&
                       day <= days_of_month(year, month) && hour <= 23 && minute <= 59 &&
                       second <= 59;
    if (!valid) return NAT;
    const int64_t days = days_since_1970(year, month, day);
    const int64_t seconds = 60 * (60 * (24 * days + hour) + minute - zone) + second;
    return 1'000'000 * seconds + fraction;
}

}  // namespace naively
