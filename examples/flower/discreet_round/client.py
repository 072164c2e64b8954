"""A party's side: what it answers with is in the configuration of its own node."""

from discreet.federated.flower import client_app

app = client_app()
