"""A simple synthetic baseline: small programs from templates, one flaw each, as template-made test suites have them."""

from __future__ import annotations

from collections.abc import Iterator

_TEMPLATES = {
    "stack-write": "void run(int n)\n{{\n    char buffer[{size}];\n    int i;\n    for (i = 0; i <= {size}; i++)\n"
    "        buffer[i] = (char)n;\n}}\n",
    "heap-read": "int run(int n)\n{{\n    int *data = malloc({size} * sizeof(int));\n    int value;\n"
    "    if (data == 0)\n        return 0;\n    data[0] = n;\n    value = data[{size}];\n"
    "    free(data);\n    return value;\n}}\n",
    "null": "int run(int n)\n{{\n    int *p = 0;\n    if (n > {size})\n        p = &n;\n    return *p;\n}}\n",
    "use-after-free": "int run(int n)\n{{\n    int *p = malloc(sizeof(int) * {size});\n    *p = n;\n    free(p);\n"
    "    return *p;\n}}\n",
    "division": "int run(int n)\n{{\n    int d = n % {size};\n    return {size} / d;\n}}\n",
    "overflow": "int run(int n)\n{{\n    int total = n;\n    total = total * {size};\n    return total;\n}}\n",
}


def programs() -> Iterator[tuple[str, str]]:
    """(name, text) of each program."""
    for name, template in _TEMPLATES.items():
        for size in (4, 8, 16, 32):
            yield f"{name}-{size}", template.format(size=size)
