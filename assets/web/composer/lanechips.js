// The lanes of the next run as chips that open their settings, and a menu that adds one.

import { button, h } from "../core/dom.js";
import { sharedBase } from "../core/lanebase.js";
import { besideName, laneTag } from "../core/lanetag.js";

const PASTE = "Paste settings …"; // of another program

/**
 * The chips; `onopen(index)` and `onadd(lane)` are called when one is pressed or chosen, `onbring()`
 * for a lane of another program.
 * @param {Spec} spec
 * @param {LaneSettings<Typed>[]} lanes
 * @param {{ onopen: (index: number) => void, onadd: (lane: LaneSettings) => void,
 *   onbring: () => void }} events
 */
export function laneChips(spec, lanes, { onopen, onadd, onbring }) {
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
    const most = h("span", { class: "tag" }, `${spec.maxLanes} lanes at most`);
    return [...chips, most, button(PASTE, onbring, { class: "quiet" })];
  }
  const named = [spec.baseline, ...spec.strengths, ...spec.comparators];
  const menu = h(
    "select",
    { class: "chip", "aria-label": "Add a lane" },
    h("option", { value: "" }, "+ lane"),
    named.map((lane, i) => h("option", { value: i }, lane.name)),
    h("option", { value: PASTE }, PASTE),
  );
  menu.addEventListener("change", () => {
    const { value } = menu;
    menu.value = "";
    if (value === PASTE) onbring();
    else onadd(named[Number(value)]);
  });
  return [...chips, menu];
}
