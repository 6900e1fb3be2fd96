// The lanes of the next run as chips that open their settings, and a menu that adds one.

import { h } from "../core/dom.js";
import { sharedBase } from "../core/lanebase.js";
import { besideName, laneTag } from "../core/lanetag.js";

/**
 * The chips; `onopen(index)` and `onadd(lane)` are called when one is pressed or chosen.
 * @param {Spec} spec
 * @param {LaneSettings<Typed>[]} lanes
 * @param {{ onopen: (index: number) => void, onadd: (lane: LaneSettings) => void }} events
 */
export function laneChips(spec, lanes, { onopen, onadd }) {
  const samplers = lanes.map((lane) => lane.sampler);
  // The base stands beside the chips.
  const base = sharedBase(samplers, spec);
  const chips = lanes.map((lane, i) =>
    h(
      "button",
      { type: "button", class: "chip", onclick: () => onopen(i) },
      h("b", {}, lane.name),
      ` ${besideName(laneTag(lane.sampler, spec, base), lane.name)}`,
    ),
  );
  if (lanes.length >= spec.maxLanes) {
    return [...chips, h("span", { class: "tag" }, `${spec.maxLanes} lanes at most`)];
  }
  const named = [spec.baseline, ...spec.strengths, ...spec.comparators];
  const menu = h(
    "select",
    { class: "chip", "aria-label": "Add a lane" },
    h("option", { value: "" }, "+ lane"),
    named.map((lane, i) => h("option", { value: i }, lane.name)),
  );
  menu.addEventListener("change", () => onadd(named[Number(menu.value)]));
  return [...chips, menu];
}
