"""Which job is next, and how long its slot is: by public facts alone, and such that no job keeps others from theirs.

People take turns: next is the oldest job of whoever of those that wait was served longest ago. So thousands of cheap
jobs of one person delay each job of another by one slot, not by thousands.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from discreet.service.catalogue import Version, version_by_id
from discreet.service.slots import LONGEST, slot
from discreet.service.tables import jobs

log = logging.getLogger("discreet.worker")


def next_in_turn(connection: Connection, kinds: Sequence[str]) -> Any | None:
    """The row of the next job of these kinds, locked to the end of the transaction; None if there is none.

    A row that another worker has locked is left to it.
    """
    waiting = (jobs.c.state == "reserved") & jobs.c.kind.in_(kinds)
    first = select(jobs.c.person_id, func.min(jobs.c.decided_at)).where(waiting).group_by(jobs.c.person_id)
    since = {row[0]: row[1] for row in connection.execute(first)}
    served = select(jobs.c.person_id, func.max(jobs.c.started_at)).where(
        jobs.c.person_id.in_(since), jobs.c.kind.in_(kinds), jobs.c.started_at.is_not(None)
    )
    last = {row[0]: row[1] for row in connection.execute(served.group_by(jobs.c.person_id))} if len(since) > 1 else {}
    for person in sorted(since, key=lambda each: (each in last, last.get(each, since[each]), since[each], each)):
        oldest = select(jobs).where(waiting, jobs.c.person_id == person).order_by(jobs.c.decided_at, jobs.c.id)
        row = connection.execute(oldest.limit(1).with_for_update(skip_locked=True)).first()
        if row is not None:
            return row
    return None


def planned(connection: Connection, row: Any, least_slot: float) -> tuple[Version, timedelta] | None:
    """The version that a job is about, and its slot; None if there can be none: that must not stop the next job."""
    try:
        version = version_by_id(connection, row.version_id)
        wait = slot(row.kind, version.schema, version.records_declared, row.request, least_slot)
        if wait > LONGEST + timedelta(seconds=least_slot):  # asked for before such requests were refused
            log.error("job %s needs a slot of more than %s days", row.id, LONGEST.days)
            return None
        return version, wait
    except SQLAlchemyError:
        raise
    except Exception as error:  # the request fitted once; whatever is wrong with it now is wrong with it alone
        log.error("job %s has no slot: %s", row.id, type(error).__name__)
        return None
