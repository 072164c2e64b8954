"""`discreet card`: what a model promises, to whom, and what it cost."""

from __future__ import annotations

from discreet.cli import inputs, options
from discreet.cli.outputs import emit, say, say_remarks, tabulate_charges


def card(
    model: options.Model,
    as_json: options.Json = False,
) -> None:
    """Show what a model promises, to whom, and what it cost.

    \b
    Example, after `discreet demo`:
      discreet card discreet-demo/model.json
    """
    from discreet.models.saving import card as content_of

    trained = inputs.load_model(model)
    content = content_of(trained)
    if as_json:
        emit(content)
        return
    promise = content["guarantee"]
    say(f"{model}: {content['model']} for {content['target']}", style="bold")
    say(promise["statement"], style="green" if promise["holds"] else "yellow")
    if hasattr(trained, "picked_"):
        say(trained.picked_.statement())
    say()
    to = f"everyone with {promise['unit']} in the table; several records multiply the loss"
    say(f"Promised to     {to if promise['holds'] else 'nobody'}")
    say(f"Adjacency       {promise['adjacency']}")
    noise = "repeatable from a seed" if promise["seeded"] else "secure"
    say(f"Noise           {'none' if promise['epsilon'] == 'inf' else noise}")
    say(f"Classes         {', '.join(map(str, content['classes']))}")
    if "class_weight" in content:
        told = content["class_weight"]
        words = told if isinstance(told, str) else ", ".join(f"{label} × {each:g}" for label, each in told.items())
        say(f"Class weights   {words} (a public parameter)")
    say(f"Columns         {', '.join(content['attributes'])}")
    if content["not_asked"]:
        say(f"Not asked       {', '.join(content['not_asked'])}")
    say(f"Schema          {content['schema_hash']}")
    if promise["holds"]:
        say(f"Assumed public  {'; '.join(promise['assumed_public'])}")
    say_remarks(content["remarks"], content["unchecked"])
    say()
    say("Limits")
    for limit in promise["limits"]:
        say(f"- {limit}")
    tabulate_charges(trained.receipt_.charges)
