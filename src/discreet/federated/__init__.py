"""Training across parties that share no rows: invitations, answers, sums of masked tables."""

from discreet.federated.aggregator import Aggregator
from discreet.federated.invitation import Invitation, Invitee, Question, invite
from discreet.federated.masks import KeyPair
from discreet.federated.message import Message
from discreet.federated.party import Party

__all__ = ["Aggregator", "Invitation", "Invitee", "KeyPair", "Message", "Party", "Question", "invite"]
