"""What the C library gives a program, by name: not to be closed over, only included."""

from __future__ import annotations

import re
from collections.abc import Iterable

from builders.verivul.parse import names

KEYWORDS = names(
    """
    auto break case char const continue default do double else enum extern float for goto if int long register
    return short signed sizeof static struct switch typedef union unsigned void volatile while inline restrict _Bool
    NULL true false bool defined __func__ __FILE__ __LINE__ __FUNCTION__ offsetof va_list va_start va_end va_arg
    __VA_ARGS__ __attribute__ __extension__ EOF stdin stdout stderr errno
    """
)
NAMES = names(
    """
    malloc calloc realloc free memcpy memmove memset memcmp memchr strlen strcpy strncpy strcat strncat strcmp
    strncmp strcasecmp strncasecmp strchr strrchr strstr strdup strndup strtol strtoul strtod strtoll strtoull
    strspn strcspn strpbrk strtok atoi atol atof abs labs exit abort assert isdigit isalpha isspace isalnum isxdigit
    isprint isupper islower tolower toupper qsort bsearch rand srand getenv uint_fast8_t uint_fast16_t uint_fast32_t
    uint_fast64_t int_fast8_t int_fast16_t int_fast32_t int_fast64_t uint_least8_t uint_least16_t uint_least32_t
    int_least32_t size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
    uintptr_t intptr_t uintmax_t intmax_t wchar_t off_t time_t INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX
    LLONG_MAX LLONG_MIN ULLONG_MAX SHRT_MAX SHRT_MIN USHRT_MAX CHAR_MAX CHAR_MIN UCHAR_MAX CHAR_BIT SCHAR_MAX
    SCHAR_MIN SIZE_MAX INT32_MAX INT32_MIN UINT32_MAX INT64_MAX INT64_MIN UINT64_MAX UINT16_MAX INT16_MAX INT16_MIN
    UINT8_MAX INT8_MAX INT8_MIN PTRDIFF_MAX DBL_MAX DBL_EPSILON FLT_MAX PRIu64 PRId64 PRIu32 PRIx64 PRIuPTR FILE
    fopen fclose fread fwrite fprintf printf snprintf sprintf vsnprintf vfprintf fputs fputc fgets fgetc getc ungetc
    fseek ftell rewind feof ferror fflush puts putchar sscanf fscanf perror strerror time localtime gmtime strftime
    mktime floor ceil sqrt pow log exp fabs sin cos isnan isinf
    """
)
MODELLED = names(
    """
    memcpy memmove memset strcpy strncpy strcat strncat strlen strcmp strncmp memcmp strchr strdup snprintf sprintf
    free realloc
    """
)
"""Functions inside whose models a violation may be reported; it belongs to the line of the call."""

NORETURN = re.compile(r"(^|_)(abort|exit|fatal|die|panic|longjmp|_truncated_longjmp|nd_trunc_longjmp)", re.I)
_HEADERS = {
    "stdint.h": r"\bu?int(_fast|_least)?(8|16|32|64|ptr|max)_t\b"
    r"|\b(SIZE_MAX|U?INT(8|16|32|64)_M\w+|UINTPTR_MAX|PTRDIFF_MAX)\b",
    "string.h": r"\b(mem(cpy|move|set|cmp|chr)|str\w+)\b",
    "limits.h": r"\b(U?(INT|LONG|LLONG|SHRT|CHAR)_(MAX|MIN)|SCHAR_\w+|CHAR_BIT)\b",
    "stdio.h": r"\b(FILE|f?printf|s?n?printf|v\w*printf|std(in|out|err)|EOF"
    r"|f(open|close|read|write|puts|gets|getc|seek|tell|flush)|sscanf|fscanf|getc|ungetc|puts|putchar|perror|feof"
    r"|ferror|SEEK_\w+)\b",
    "ctype.h": r"\b(is(digit|alpha|space|alnum|xdigit|print|upper|lower)|to(upper|lower))\b",
    "stdbool.h": r"\b(bool|true|false)\b",
    "float.h": r"\b(DBL|FLT)_\w+",
    "inttypes.h": r"\bPRI\w+",
    "math.h": r"\b(floor|ceil|sqrt|pow|log|exp|fabs|sin|cos|isnan|isinf)\b",
    "assert.h": r"\bassert\b",
    "errno.h": r"\b(errno|E[A-Z]{3,})\b",
    "stdarg.h": r"\bva_\w+",
    "time.h": r"\b(time_t|struct tm|strftime|localtime|gmtime|mktime)\b",
    "sys/types.h": r"\b(ssize_t|off_t|u_char|u_int|u_short|u_long|u_int\d+_t|mode_t|uid_t|gid_t|pid_t|dev_t|ino_t)\b",
    "sys/stat.h": r"struct stat\b",
    "sys/time.h": r"struct timeval\b",
    "netinet/in.h": r"struct (in_addr|in6_addr|sockaddr_in6?)\b|\bhton[sl]|\bntoh[sl]",
    "netdb.h": r"struct (protoent|servent|hostent)\b",
    "sys/socket.h": r"\bAF_INET6?\b|struct sockaddr\b",
    "setjmp.h": r"\b(jmp_buf|setjmp|longjmp)\b",
}
_SYSTEM = ("netdb.h", "netinet/in.h", "sys/socket.h", "sys/time.h")


def includes(text: str, own: Iterable[str]) -> str:
    """The `#include` lines that a text needs; `own` are names that its project defines itself."""
    own, lines = frozenset(own), ["#include <stddef.h>", "#include <stdlib.h>"]
    for header, pattern in _HEADERS.items():
        found = list(re.finditer(pattern, text))
        theirs = [match for match in found if not _is_own(match[0], own)] if header in _SYSTEM else found
        if theirs:
            lines.append(f"#include <{header}>")
    return "\n".join(lines)


def _is_own(matched: str, own: frozenset[str]) -> bool:
    name = matched.split()[-1]
    return name in own or f"struct {name}" in own
