"""The code of the bundled sample repository: a made-up library, `parcel`, with its faults and their fixes.

Written for this project; the CVE numbers are invented (the year 1900 has none).
"""

from __future__ import annotations

from dataclasses import dataclass

HEADER = """#ifndef PARCEL_H
#define PARCEL_H
#include <stddef.h>
#include <stdint.h>

#define NAME_MAX_LENGTH 7
#define GRID_SIZE 4
#define PARCEL_INLINE inline

typedef enum { STATE_NEW, STATE_OPEN, STATE_CLOSED } parcel_state;

typedef struct record {
    const unsigned char *data;
    size_t length;
    unsigned int flags;
} record;

typedef struct user {
    int id;
    int level;
} user;

typedef struct session {
    user *owner;
    int uses;
    parcel_state state;
} session;

typedef struct message {
    char *body;
    int urgent;
} message;

unsigned int record_sum(const record *r);
void name_copy(char *out, const char *name, size_t length);
int session_level(const session *s);
int session_close(session *s);
void message_drop(message *m);
int mean_weight(const int *weights, int count);
int image_area(int width, int height);
int message_set(message *m, const char *text, int urgent);
unsigned int flag_mask(int bit);
int state_next(int state);
int grid_get(const int *grid, int row, int column);
unsigned char *parcel_join(const unsigned char *a, uint32_t na, const unsigned char *b, uint32_t nb);
#endif
"""


@dataclass(frozen=True)
class Fault:
    """A fault and its fix.

    Attributes:
        path: of the file; `old` and `new` its content before and after.
        cwe: 0 for a commit that fixes nothing.
    """

    path: str
    cwe: int
    subject: str
    old: str
    new: str


def _file(text: str) -> str:
    return '#include <stdlib.h>\n#include <string.h>\n#include "parcel.h"\n\n' + text


FAULTS = (
    Fault(
        "src/record.c",
        125,
        "record_sum: do not read past the end of the record",
        _file("""unsigned int record_sum(const record *r)
{
    unsigned int sum = 0;
    size_t i;

    for (i = 0; i <= r->length; i++) {
        sum += r->data[i];
    }
    return sum ^ r->flags;
}
"""),
        _file("""unsigned int record_sum(const record *r)
{
    unsigned int sum = 0;
    size_t i;

    for (i = 0; i < r->length; i++) {
        sum += r->data[i];
    }
    return sum ^ r->flags;
}
"""),
    ),
    Fault(
        "src/grid.c",
        787,
        "grid_set: reject rows outside the grid",
        _file("""static int cells[GRID_SIZE];

int grid_set(int row, int value)
{
    if (row > GRID_SIZE)
        return -1;
    cells[row < 0 ? 0 : row] = value;
    return cells[0];
}
"""),
        _file("""static int cells[GRID_SIZE];

int grid_set(int row, int value)
{
    if (row >= GRID_SIZE)
        return -1;
    cells[row < 0 ? 0 : row] = value;
    return cells[0];
}
"""),
    ),
    Fault(
        "src/session.c",
        476,
        "session_level: a session may have no owner",
        _file("""int session_level(const session *s)
{
    user *owner = s->owner;
    int level = s->uses > 10 ? 1 : 0;

    if (owner->id == 0)
        return level;
    return owner->level;
}
"""),
        _file("""int session_level(const session *s)
{
    user *owner = s->owner;
    int level = s->uses > 10 ? 1 : 0;

    if (owner == NULL)
        return level;
    if (owner->id == 0)
        return level;
    return owner->level;
}
"""),
    ),
    Fault(
        "src/close.c",
        416,
        "session_close: read the counter before the session is freed",
        _file("""int session_close(session *s)
{
    int uses;

    s->state = STATE_CLOSED;
    free(s);
    uses = s->uses;
    return uses;
}
"""),
        _file("""int session_close(session *s)
{
    int uses;

    s->state = STATE_CLOSED;
    uses = s->uses;
    free(s);
    return uses;
}
"""),
    ),
    Fault(
        "src/message.c",
        415,
        "message_drop: the body of an urgent message is freed once",
        _file("""static void body_release(message *m)
{
    free(m->body);
}

void message_drop(message *m)
{
    if (m->urgent)
        body_release(m);
    free(m->body);
    m->body = NULL;
}
"""),
        _file("""static void body_release(message *m)
{
    free(m->body);
}

void message_drop(message *m)
{
    if (m->urgent) {
        body_release(m);
        m->body = NULL;
    }
    free(m->body);
    m->body = NULL;
}
"""),
    ),
    Fault(
        "src/weight.c",
        369,
        "mean_weight: no weights have no mean",
        _file("""int mean_weight(const int *weights, int count)
{
    long sum = 0;
    int i;

    for (i = 0; i < count; i++)
        sum += weights[i];
    return (int)(sum / count);
}
"""),
        _file("""int mean_weight(const int *weights, int count)
{
    long sum = 0;
    int i;

    if (count <= 0)
        return 0;
    for (i = 0; i < count; i++)
        sum += weights[i];
    return (int)(sum / count);
}
"""),
    ),
    Fault(
        "src/image.c",
        190,
        "image_area: refuse sizes whose area does not fit",
        _file("""int image_area(int width, int height)
{
    if (width < 0 || height < 0)
        return -1;
    return width * height;
}
"""),
        _file("""int image_area(int width, int height)
{
    if (width < 0 || height < 0)
        return -1;
    if (width > 32767 || height > 32767)
        return -1;
    return width * height;
}
"""),
    ),
    Fault(
        "src/compose.c",
        401,
        "message_set: do not lose the copy when the message is refused",
        _file("""int message_set(message *m, const char *text, int urgent)
{
    char *copy = malloc(8);

    if (copy == NULL)
        return -1;
    copy[0] = text[0];
    if (urgent < 0)
        return -1;
    m->urgent = urgent;
    free(copy);
    return 0;
}
"""),
        _file("""int message_set(message *m, const char *text, int urgent)
{
    char *copy = malloc(8);

    if (copy == NULL)
        return -1;
    copy[0] = text[0];
    if (urgent < 0) {
        free(copy);
        return -1;
    }
    m->urgent = urgent;
    free(copy);
    return 0;
}
"""),
    ),
    Fault(
        "src/flags.c",
        1335,
        "flag_mask: there are 32 flags",
        _file("""unsigned int flag_mask(int bit)
{
    unsigned int mask;

    if (bit < 0)
        return 0;
    mask = 1u << bit;
    return mask;
}
"""),
        _file("""unsigned int flag_mask(int bit)
{
    unsigned int mask;

    if (bit < 0 || bit > 31)
        return 0;
    mask = 1u << bit;
    return mask;
}
"""),
    ),
    Fault(
        "src/state.c",
        617,
        "state_next: an unknown state is an error, not the end of the process",
        _file("""int state_next(int state)
{
    switch (state) {
    case STATE_NEW:
        return STATE_OPEN;
    case STATE_OPEN:
        return STATE_CLOSED;
    default:
        abort();
    }
}
"""),
        _file("""int state_next(int state)
{
    switch (state) {
    case STATE_NEW:
        return STATE_OPEN;
    case STATE_OPEN:
        return STATE_CLOSED;
    default:
        return -1;
    }
}
"""),
    ),
    Fault(
        "src/label.c",
        787,
        "label_write: the terminating NUL needs room, too",
        _file("""void label_write(const char *name, size_t length)
{
    static char label[NAME_MAX_LENGTH];
    size_t i;

    if (length > NAME_MAX_LENGTH)
        length = NAME_MAX_LENGTH;
    for (i = 0; i < length; i++)
        label[i] = name[i];
    label[length] = '\\0';
}
"""),
        _file("""void label_write(const char *name, size_t length)
{
    static char label[NAME_MAX_LENGTH];
    size_t i;

    if (length >= NAME_MAX_LENGTH)
        length = NAME_MAX_LENGTH - 1;
    for (i = 0; i < length; i++)
        label[i] = name[i];
    label[length] = '\\0';
}
"""),
    ),
    Fault(
        "src/k_and_r.c",
        125,
        "tail_byte: an empty buffer has no last byte",
        _file("""int tail_byte(data, length)
    const unsigned char *data;
    int length;
{
    return data[length - 1];
}
"""),
        _file("""int tail_byte(data, length)
    const unsigned char *data;
    int length;
{
    if (length <= 0)
        return -1;
    return data[length - 1];
}
"""),
    ),
    Fault(
        "src/planted.c",
        0,
        "planted: a fix that changes nothing (CVE text only)",
        _file("""int planted_get(const int *values, int index)
{
    return values[index];
}
"""),
        _file("""int planted_get(const int *values, int index)
{
    /* index is checked by the caller */
    return values[(index)];
}
"""),
    ),
    Fault(
        "src/macro.c",
        125,
        "macro_peek: the macro that reads checks the length",
        _file("""#define PEEK(p, n, at) ((p)[at])

int macro_peek(const unsigned char *buffer, int length, int at)
{
    if (at < 0)
        return -1;
    return PEEK(buffer, length, at);
}
"""),
        _file("""#define PEEK(p, n, at) ((p)[at])

int macro_peek(const unsigned char *buffer, int length, int at)
{
    if (at < 0 || at >= length)
        return -1;
    return PEEK(buffer, length, at);
}
"""),
    ),
    Fault(
        "src/choice.c",
        369,
        "choice_share: no parts have no share",
        _file("""int choice_share(int total, int parts)
{
#if defined(PARCEL_ROUND)
    total += parts / 2;
#else
    total += 1024 - 1024;
#endif
    if (total < 0)
        return 0;
    return total / parts;
}
"""),
        _file("""int choice_share(int total, int parts)
{
#if defined(PARCEL_ROUND)
    total += parts / 2;
#else
    total += 1024 - 1024;
#endif
    if (total < 0 || parts < 1)
        return 0;
    return total / parts;
}
"""),
    ),
    Fault(
        "src/generated.c",
        125,
        "generated table: one entry more",
        "/* Generated by tablegen, DO NOT EDIT */\nint table_get(int i)\n{\n    static int t[2];\n"
        "    return t[i];\n}\n",
        "/* Generated by tablegen, DO NOT EDIT */\nint table_get(int i)\n{\n    static int t[2];\n"
        "    return t[i & 1];\n}\n",
    ),
    Fault(
        "src/view.cpp",
        125,
        "view: bounds in the C++ view",
        "int view(const int *v, int n, int i) { return v[i]; }\n",
        "int view(const int *v, int n, int i) { return i < n ? v[i] : 0; }\n",
    ),
)

LATIN1 = (
    "src/gr\xf6\xdfe.c",
    b"/* Gr\xf6\xdfe in Byte */\nint size_half(int size)\n{\n    return 100 / size;\n}\n",
    b"/* Gr\xf6\xdfe in Byte */\nint size_half(int size)\n{\n    if (size == 0)\n        return 0;\n"
    b"    return 100 / size;\n}\n",
)
"""A file in Latin-1: path, content before and after; the fix is CWE-369."""

HOSTILE = ("src/two\nlines.c", b"int f(int *p)\n{\n    return p[9];\n}\n", b"int f(int *p)\n{\n    return p[0];\n}\n")
"""A file whose name holds a line end."""
