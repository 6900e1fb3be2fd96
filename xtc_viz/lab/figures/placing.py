"""Where the number of a point goes, so that it hides no other."""

from __future__ import annotations

import math
from collections.abc import Mapping

Point = tuple[float, float]
SIDE = 280  # pixels of a plane, about
RADIUS = 15  # pixels from a point to its number
ENOUGH = 40  # pixels: farther away is not better
_WAYS = [math.radians(degrees) for degrees in (45, 135, 315, 225, 0, 180, 90, 270)]


def beside(points: Mapping[str, Point], spans: Point) -> dict[str, Point]:
    """Return for each point how far right and up its number stands, in pixels.

    `spans` are the widths of both axes in the points' units. Of eight places around it each number
    takes the one that is farthest from the points and from the numbers that are placed already.
    """
    scale = [SIDE / span if span > 0 else 0.0 for span in spans]
    pixels = {name: (x * scale[0], y * scale[1]) for name, (x, y) in points.items()}
    taken: list[Point] = []
    places = {}
    for name, (x, y) in pixels.items():
        others = [*taken, *(own for other, own in pixels.items() if other != name)]

        def room(way: float, x: float = x, y: float = y, others: list[Point] = others) -> float:
            place = (x + RADIUS * math.cos(way), y + RADIUS * math.sin(way))
            return min((ENOUGH, *(math.dist(place, other) for other in others)))

        way = max(_WAYS, key=room)
        right, up = RADIUS * math.cos(way), RADIUS * math.sin(way)
        taken.append((x + right, y + up))
        places[name] = (right, up)
    return places
