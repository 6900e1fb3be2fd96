// The lanes of the next run as chips that open their settings, and a menu that adds one.

import { h } from "../core/dom.js";
import { laneTag } from "../inspector/words.js";

/** The chips; `onopen(index)` and `onadd(lane)` are called when one is pressed or chosen. */
export function laneChips(spec, lanes, { onopen, onadd }) {
  const chips = lanes.map((lane, i) =>
    h(
      "button",
      { type: "button", class: "chip", onclick: () => onopen(i) },
      h("b", {}, lane.name),
      ` ${laneTag(lane.sampler, spec.knobs)}`,
    ),
  );
  if (lanes.length >= spec.maxLanes) return chips;
  const named = [spec.baseline, ...spec.strengths, ...spec.comparators];
  const menu = h(
    "select",
    { class: "chip", "aria-label": "Add a lane" },
    h("option", { value: "" }, "+ lane"),
    named.map((lane, i) => h("option", { value: i }, lane.name)),
  );
  menu.addEventListener("change", () => onadd(structuredClone(named[menu.value])));
  return [...chips, menu];
}

/** A name that no other lane has. */
export function freeName(name, lanes) {
  const taken = new Set(lanes.map((other) => other.name));
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`;
  return free;
}
