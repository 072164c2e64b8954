"""The parties' side: simulated nodes have no configuration of their own; a file lists one for each.

Only for a simulation: here who starts the run chooses data and ledger of every party.
"""

import json
from pathlib import Path

from discreet.federated.flower import client_app


def settings(context):
    """The configuration of a simulated node, by its number."""
    nodes = json.loads(Path(context.run_config["nodes"]).read_text(encoding="utf-8"))
    return nodes[int(context.node_config["partition-id"])]


app = client_app(settings)
