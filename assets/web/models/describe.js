// A model in words: a line for the page's head, a sentence or two for its dialog.

import { size } from "./catalog.js";

/** A model in a line, as far as it is known. @param {ModelLine} model */
export function shortLine({ name, parameters, dtype, device, decoding, served }) {
  const where = served && `in ${served.kind}`;
  const facts = [name, parameters && size(parameters), dtype, device, where, decoding];
  return facts.filter(Boolean).join(" · ");
}

/** What the model in use is, in a sentence or two. @param {ModelState} state */
export function describe({ model, resting, can_rest }) {
  if (!model) return "";
  const facts = [];
  if (model.parameters) facts.push(`${size(model.parameters)} parameters`);
  if (model.device) facts.push([model.dtype, model.device].filter(Boolean).join(" on "));
  const { served } = model;
  if (served) {
    facts.push(`in a server of ${[served.kind, served.version].filter(Boolean).join(" ")}`);
    if (served.candidates) facts.push(`which shows ${served.candidates} candidates a step`);
  }
  if (model.decoding) facts.push(`decoded ${model.decoding}`);
  facts.push(`context of ${model.context} tokens`);
  if (model.revision) facts.push(`revision ${model.revision.slice(0, 7)}`);
  const rest = "It rests: its memory is free, and the next run loads it again.";
  const offer = "Putting it away frees its memory until the next run, which loads it again.";
  return `${facts.join(" · ")}. ${resting ? rest : can_rest ? offer : ""}`;
}
