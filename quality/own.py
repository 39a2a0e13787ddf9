"""Runs what a dataset adds to the shared checks: its views, then its checks and figures in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import duckdb

from quality.anomalies import check as anomalies
from quality.connect import Session
from quality.failures import reason
from quality.ledger import Ledger
from quality.near import check as near
from quality.near.rows import Other, refuse_unmatched
from quality.unique import as_check, check_unique
from schemas import Alike, Check, CheckSet, Figure, GoldsmithError, Strange, Unique, View, sql


def add_own_views(session: Session, views: tuple[View, ...]) -> None:
    """Create the dataset's views; those whose needs are absent are left out, and what needs them with them.

    Raises:
        GoldsmithError: a view's SQL does not run.
    """
    for view in views:
        if missing(session, view.needs):
            continue
        kind = "TABLE" if view.materialise else "VIEW"  # not TEMP: other connections read it too
        try:
            session.con.execute(f"CREATE {kind} {sql.name(view.name)} AS {view.sql}")
        except duckdb.Error as error:
            raise GoldsmithError(
                f"[{session.dataset.name} > view {view.name}] its SQL does not run ({reason(error)}): mend the view"
            ) from None
        session.names.add(view.name)


class OwnChecks:
    """A dataset's own checks, for several threads: each takes the next one that nobody has taken.

    Args:
        against: other datasets and evaluation sets; see `quality.near`.
    """

    def __init__(self, checks: CheckSet, against: Sequence[Other]) -> None:
        self._alikes = [check for check in checks.checks if isinstance(check, Alike)]
        self._against = against
        self._compared: set[str] = set()
        self._left = deque(enumerate(checks.checks))

    def run(self, ledger: Ledger) -> list[int]:
        """Run checks until none is left; the views must be there.

        Returns:
            for each new result of the ledger, the place of its check in the dataset's order.

        Raises:
            GoldsmithError: a check's SQL does not run.
        """
        places: list[int] = []
        while self._left:
            try:
                place, check = self._left.popleft()
            except IndexError:  # another thread was faster
                break
            before = len(ledger.results)
            self._one(ledger, check)
            places += [place] * (len(ledger.results) - before)
        return places

    def _one(self, ledger: Ledger, check: Check | Figure | Unique | Strange | Alike) -> None:
        needs = () if isinstance(check, Unique) else check.needs
        absent = missing(ledger.session, (check.table, *needs))
        why = f"the dataset has no {', '.join(absent)}"
        if isinstance(check, Alike):
            if absent:
                near.skip_alike(ledger, check, why)
            else:
                self._compared.update(near.check_alike(ledger, check, self._against))
        elif absent:
            ledger.skip(_shown(check), why)
        elif isinstance(check, Unique):
            check_unique(ledger, check)
        elif isinstance(check, Strange):
            anomalies.check_strange(ledger, check)
        elif isinstance(check, Figure):
            ledger.figure(check)
        else:
            ledger.check(check)

    def forget(self) -> None:
        """Begin no further check."""
        self._left.clear()

    def refuse_unmatched(self) -> None:
        """Once all ran, refuse what nothing was compared with.

        Raises:
            GoldsmithError: something of `against` holds nothing of a kind that the dataset compares.
        """
        refuse_unmatched(self._alikes, self._against, self._compared)


def _shown(check: Check | Figure | Unique | Strange) -> Check | Figure:
    """The form that reports show."""
    match check:
        case Unique():
            return as_check(check)
        case Strange():
            return anomalies.as_check(check)
    return check


def missing(session: Session, needs: tuple[str, ...]) -> list[str]:
    """The tables and views among `needs` that there are not."""
    return [need for need in needs if need not in session.names]
