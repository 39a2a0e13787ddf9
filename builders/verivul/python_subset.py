"""The Python that is run: small programs of numbers, texts and lists, which can reach nothing of the machine.

A program is read and not run as long as it holds anything that is not named here: no import, no class, no attribute but
a method of a list, dict or text that is called at once, no name that starts with `_`, no call but of these and of its
own functions. Without attributes there is no way from a value to the frames and modules behind it; where the program
runs it has these builtins alone, too.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from builders.verivul.parse import names

FUNCTIONS = names(
    """
    abs all any bool chr dict divmod enumerate float int isinstance len list max min ord pow range reversed round set
    sorted str sum tuple zip
    """
)
"""Builtin functions and types, as they are."""

EXCEPTIONS = names(
    """
    ArithmeticError AssertionError Exception FloatingPointError IndexError KeyError LookupError OverflowError
    RuntimeError TypeError ValueError ZeroDivisionError
    """
)
INPUTS = frozenset({"nondet_int", "nondet_uint", "nondet_bool"})
ASSUME = "__ESBMC_assume"
SILENT = "print"
"""May be called and prints nothing: what is printed is the word of the one who runs the program."""

METHODS = names(
    """
    add append clear copy count discard endswith extend find get index insert isalpha isdigit islower isspace isupper
    items join keys lower pop remove replace reverse setdefault sort split startswith strip update upper values
    """
)
_CALLED = FUNCTIONS | EXCEPTIONS | INPUTS | {ASSUME, SILENT}
_BUILTIN = frozenset(dir(builtins))
_NODES = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If,
    ast.While, ast.For, ast.Break, ast.Continue, ast.Pass, ast.Expr, ast.Assert, ast.Raise, ast.Try, ast.ExceptHandler,
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.keyword, ast.Name, ast.Constant, ast.List,
    ast.Tuple, ast.Dict, ast.Set, ast.Subscript, ast.Slice, ast.Attribute, ast.JoinedStr, ast.FormattedValue,
    ast.ListComp, ast.comprehension, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


class NotAllowedError(Exception):
    """A program holds what is not allowed; the message says what, and in which line."""


def require(program: str) -> None:
    """Refuse a program that is not of this subset.

    Raises:
        NotAllowedError: it is none, or no Python.
    """
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotAllowedError(f"it is no Python ({error})") from None
    nodes = list(ast.walk(tree))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if fault := next(_faults(node, own, called), ""):
            raise NotAllowedError(f"line {getattr(node, 'lineno', 1)}: {fault}")


def _faults(node: ast.AST, own: set[str], called: set[int]) -> Iterator[str]:
    if not isinstance(node, _NODES):
        yield f"{type(node).__name__} is not allowed"
    for name in _names(node):
        if name.startswith("_") and not (name == ASSUME and isinstance(node, ast.Name) and id(node) in called):
            yield f"the name {name} starts with _"
        elif isinstance(node, ast.Name) and name in _BUILTIN and name not in _CALLED:
            yield f"{name} is not allowed"
    if isinstance(node, ast.Attribute) and (node.attr not in METHODS or id(node) not in called):
        yield f"the attribute {node.attr} is not allowed"
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        yield "a decorator is not allowed"
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in own | _CALLED:
            yield f"a call of {name or 'an expression'} is not allowed"


def _names(node: ast.AST) -> Iterator[str]:
    """The names that a node itself uses, binds or asks for."""
    for field in ("id", "attr", "arg", "name"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value
