"""The chart as a picture: SVG with jobs waiting and boards in use, each order a line."""

from collections.abc import Sequence
from html import escape

from static_site import charts

from ...settings import Scheduling
from .comparison import Comparison
from .series import Moment
from .wording import moment

STEPS = 240
WIDTH, LEFT, RIGHT = 860, 70, 20
TOP, GAP = 46, 62  # above the first panel, and between it and the next
PLOT = WIDTH - LEFT - RIGHT
MARKS = 5
# Told apart by colour and by form.
STROKES = {Scheduling.FIFO: ("#b45309", ""), Scheduling.FAIR: ("#1d4ed8", "6 3")}


def picture(comparison: Comparison) -> str:
    orders = list(comparison.planned)
    steps = {order: comparison.steps(order, STEPS) for order in orders}
    panels = [
        ("Jobs waiting", {order: [each.waiting for each in steps[order]] for order in orders}),
        ("Boards in use", {order: [each.busy for each in steps[order]] for order in orders}),
    ]
    height = TOP + len(panels) * (charts.HEIGHT + GAP)
    marks = _marks(comparison, steps[orders[0]])
    body = [
        _panel(title, values, TOP + number * (charts.HEIGHT + GAP), marks)
        for number, (title, values) in enumerate(panels)
    ]
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    font = 'font-family="sans-serif" font-size="12" fill="#1f2937"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
            "<title>Jobs waiting and boards in use over time</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            _legend(orders),
            *body,
            "</svg>\n",
        ]
    )


def _legend(orders: Sequence[Scheduling]) -> str:
    parts = []
    for number, order in enumerate(orders):
        x = WIDTH - RIGHT - 80 * (len(orders) - number)
        parts.append(
            f'<path d="M{x} 16h26" {_stroke(order)}/><text x="{x + 32}" y="20">{order}</text>'
        )
    return "".join(parts)


def _panel(
    title: str,
    values: dict[Scheduling, list[int]],
    top: int,
    marks: Sequence[tuple[float, str]],
) -> str:
    scale = charts.count_scale(max(1, *(max(each) for each in values.values())))
    parts = [f'<text x="{LEFT}" y="{top - 12}" font-weight="bold">{escape(title)}</text>']
    for tick in charts.ticks(scale):
        y = top + tick.y
        parts.append(
            f'<path d="M{LEFT} {y:g}h{PLOT}" stroke="#d1d5db"/>'
            f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{tick.label}</text>'
        )
    # The lines are drawn in a box 100 wide, and stretched; their strokes are not.
    parts.append(
        f'<svg x="{LEFT}" y="{top}" width="{PLOT}" height="{charts.HEIGHT}" '
        f'viewBox="0 0 100 {charts.HEIGHT}" preserveAspectRatio="none" overflow="visible">'
    )
    for order, each in values.items():
        path = charts.line(each, scale[-1])
        parts.append(f'<path d="{path}" {_stroke(order)} vector-effect="non-scaling-stroke"/>')
    parts.append("</svg>")
    bottom = top + charts.HEIGHT + 18
    parts += [
        f'<text x="{LEFT + x * PLOT / 100:g}" y="{bottom}" text-anchor="middle">{text}</text>'
        for x, text in marks
    ]
    return "\n".join(parts)


def _marks(comparison: Comparison, steps: Sequence[Moment]) -> list[tuple[float, str]]:
    span = comparison.end - comparison.start
    every = len(steps) // MARKS
    places = range(every // 2, len(steps), every)
    return [(charts.centre(i, len(steps)), escape(moment(steps[i].at, span))) for i in places]


def _stroke(order: Scheduling) -> str:
    colour, dashes = STROKES[order]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'fill="none" stroke="{colour}" stroke-width="2"{dashed}'
