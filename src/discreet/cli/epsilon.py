"""`discreet epsilon`: what an epsilon means for one person. No data are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options
from discreet.cli.outputs import check_out, check_picture, emit, save_figure, say, tabulate
from discreet.privacy.epsilon import shown_above


def epsilon(
    value: Annotated[str, typer.Argument(metavar="[EPSILON]", help="The privacy loss of one release.")] = "1",
    releases: Annotated[
        int, typer.Option(min=1, max=10**6, help="Number of such releases about the same people, over the years.")
    ] = 1,
    plot: Annotated[
        Path | None, typer.Option(help="The picture to write: .png, .svg or .pdf.", show_default=False)
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Say what an epsilon means for one person: how much better a guess can become.

    Losses add up, so what counts for a person is the sum of all that is ever released about them: the limit of the
    ledger.

    \b
    Examples:
      discreet epsilon 1
      discreet epsilon 0.5 --releases 4
      discreet epsilon 1 --plot epsilon.png
    """
    from discreet.advice.meaning import OTHERS, affordable, meaning, percent_above

    if plot is not None:
        check_picture("--plot", plot)
        check_out(plot, force=force)
    found = meaning(value, releases)
    if plot is not None:
        from discreet.advice.meaning_picture import draw

        save_figure(draw(found.loss), plot)
    if as_json:
        emit(found.to_dict())
        return
    say(found.statement())
    say(found.judgement(), style="bold")
    rows = [[f"{before:.0%}", percent_above(after)] for before, after in found.beliefs]
    tabulate("Belief that one person is in the table", ["before", "afterwards, at most"], rows, right=["before"])
    prices = [[shown_above(price), str(number)] for price, number in affordable(3, ["0.1", "0.5", 1, 3])]
    heads = ["ε of a release", "releases, ever"]
    tabulate("What a ledger with --limit 3 pays for", heads, prices, right=heads)
    tabulate("What others have used", ["who", "ε"], [list(each) for each in OTHERS])
    say("Next: discreet advise SCHEMA says what accuracy to expect at which ε.")
