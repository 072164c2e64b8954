"""What the service refuses, as a closed list. Every message is made of public facts and of what the asker wrote.

ServiceError (DiscreetError)
├── NotFoundError       there is no such thing, or the asker may not know of it: one text for both
├── NotAllowedError     the asker's role, grant or token does not allow this
├── StateError          the job, version or link is not in a state that allows this
├── KeyReusedError      the Idempotency-Key was used for another request
├── NameTakenError      the name is in use
└── RequestError        the request does not fit the data set: an unknown column, a value out of range

BudgetError (discreet.errors) is raised where an account is short.
"""

from discreet.errors import DiscreetError


class ServiceError(DiscreetError):
    """Base of what the service refuses."""


class NotFoundError(ServiceError):
    """There is no such thing, or the asker may not know of it."""


class NotAllowedError(ServiceError):
    """The asker's role, grant or token does not allow this."""


class StateError(ServiceError):
    """The thing is not in a state that allows this, for instance a job that has started cannot be cancelled."""


class KeyReusedError(ServiceError):
    """The Idempotency-Key was used for another request; a new request needs a new key."""


class NameTakenError(ServiceError):
    """The name is in use; choose another."""


class RequestError(ServiceError):
    """The request does not fit the data set's public facts; nothing was charged."""
