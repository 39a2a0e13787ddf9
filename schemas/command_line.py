"""What the commands of all rooms share: the kinds of their paths, and how a user's mistake ends."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from schemas.errors import GoldsmithError
from schemas.stop import refuse_if_stopped, stoppable

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


class Street(click.Group):
    """Commands whose users' mistakes end in one line and an exit code (`GoldsmithError.code`), never in a traceback;
    that is for faults of the program, which end with 3. SIGINT and SIGTERM end them with 130 and 143, and what they
    hold (processes, temporary folders) is let go."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with stoppable(signal.SIGINT, signal.SIGTERM):
                return self._answered(ctx)
        except KeyboardInterrupt:
            raise SystemExit(_INTERRUPTED) from None

    def _answered(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except GoldsmithError as error:
            raise (_Failed if error.code == 1 else _Mistake)(str(error)) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
            raise SystemExit(_SIGPIPE) from None
        except shutil.Error as error:  # copying a folder: what went wrong with each file
            _, place, why = error.args[0][0]
            cure = _ROOM if os.strerror(errno.ENOSPC) in why else _ANOTHER
            raise _Mistake(f"[{place}] cannot be written ({why}): {cure}") from None
        except OSError as error:
            where = f"[{error.filename}] " if error.filename else ""
            raise _Mistake(f"{where}{error.strerror or error}: {_CURES.get(error.errno or 0, _ANOTHER)}") from None
        except ModuleNotFoundError as error:
            raise _Mistake(f"{error}: install what it needs, such as pip install 'goldsmith[all]'") from None
        except UnicodeEncodeError:
            raise _Mistake("a name cannot be written in this locale: set PYTHONUTF8=1 and run it again") from None
        except Exception as error:
            refuse_if_stopped()  # DuckDB makes its own error of a signal's exception.
            if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb", "polars", "pyarrow"):
                traceback.print_exc()
                click.echo("goldsmith: this is a fault of the program: report it with the lines above", err=True)
                raise SystemExit(_FAULT) from None
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            if os.strerror(errno.ENOSPC) in reason:
                raise _Mistake(f"{reason}: {_ROOM}") from None
            raise _Mistake(
                f"a file cannot be read, or memory was short ({reason}): check it, or build it again"
            ) from None


_ROOM = "make room and run it again; what is there already is used again"
_RIGHTS = "choose a place you may read and write, or ask for the right"
_ANOTHER = "choose another path"
_CURES = {errno.ENOSPC: _ROOM, errno.EDQUOT: _ROOM, errno.EACCES: _RIGHTS, errno.EPERM: _RIGHTS, errno.EROFS: _RIGHTS}


_FAULT = 3
"""The exit code of an error that nobody foresaw, so that it is not taken for data that failed."""

_INTERRUPTED = 130
"""128 + SIGINT."""

_SIGPIPE = 141
"""The exit code that a shell gives a tool whose reader (`head`) left before it had said all: 128 + SIGPIPE."""


class _Mistake(click.ClickException):
    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"goldsmith: {self.message}", err=True)


class _Failed(_Mistake):
    exit_code = 1
