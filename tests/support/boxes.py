"""What is wrong with a picture, measured from the boxes of its texts: cut at the edge, or one on another."""

from itertools import combinations

TOLERANCE = 1.0
"""Points by which boxes may overlap: the room around letters is not ink."""


def troubles(figure):
    """Texts that are cut or overlap, in words; empty if the picture can be printed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer, slack = canvas.get_renderer(), TOLERANCE * figure.dpi / 72
    texts = [(each.get_text(), each.get_window_extent(renderer)) for each in shown_texts(figure)]
    legends = [each.get_window_extent(renderer) for each in shown_legends(figure)]
    whole = figure.bbox
    found = [
        f"cut: {text!r}"
        for text, box in [*texts, *(("a legend", box) for box in legends)]
        if box.x0 < -slack or box.y0 < -slack or box.x1 > whole.width + slack or box.y1 > whole.height + slack
    ]
    found += [
        f"overlap: {first!r} and {second!r}"
        for (first, one), (second, two) in combinations(texts, 2)
        if _overlap(one, two, slack)
    ]
    own = {id(text) for legend in shown_legends(figure) for text in legend.findobj()}
    outside = [each for each in shown_texts(figure) if id(each) not in own]
    found += [
        f"a legend on {each.get_text()!r}"
        for legend in legends
        for each in outside
        if _overlap(legend, each.get_window_extent(renderer), slack)
    ]
    return found


def _overlap(one, two, slack):
    wide = min(one.x1, two.x1) - max(one.x0, two.x0)
    return wide > slack and min(one.y1, two.y1) - max(one.y0, two.y0) > slack


def shown_legends(figure):
    """The legends of the figure and of its axes."""
    return [each for each in [*figure.legends, *(axis.get_legend() for axis in figure.axes)] if each is not None]


def shown_texts(figure):
    """All texts that are drawn and have letters: labels of ticks beyond the end of an axis are not drawn."""
    from matplotlib.text import Text

    labels, drawn = set(), set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            ends = sorted(axis.get_view_interval())
            room = 1e-6 * (ends[1] - ends[0])
            is_drawn = axes.get_visible() and axes.axison and axis.get_visible()
            for tick in [*axis.majorTicks, *axis.minorTicks]:
                for label in (tick.label1, tick.label2):
                    labels.add(id(label))
                    if is_drawn and ends[0] - room <= tick.get_loc() <= ends[1] + room:
                        drawn.add(id(label))
            labels |= {id(axis.label), id(axis.offsetText)}
            drawn |= {id(axis.label), id(axis.offsetText)} if is_drawn else set()
    return [
        each
        for each in figure.findobj(Text)
        if each.get_visible()
        and each.get_text().strip()
        and (id(each) in drawn or id(each) not in labels)
        and (each.axes is None or each.axes.get_visible())
    ]
