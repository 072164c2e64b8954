"""The aggregator's side."""

from discreet.federated.flower import server_app

app = server_app()
