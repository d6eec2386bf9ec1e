// The calendar: days of a month, and days since 1970.
#pragma once

#include <cstdint>

namespace naively {

inline bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

inline int64_t days_of_month(int64_t year, int64_t month) {
    if (month == 2) return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Days since 1970. Years begin in March here, so that the day of a leap year is their last.
inline int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
    if (month <= 2) --year;
    const int64_t months = (month + 9) % 12;  // since March
    const int64_t before = 365 * year + year / 4 - year / 100 + year / 400;
    constexpr int64_t OF_1970 = 719468;
    return before + (153 * months + 2) / 5 + day - 1 - OF_1970;
}

}  // namespace naively
