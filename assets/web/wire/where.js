// Where a component of ours is, in gradio's own numbers.

/**
 * What gradio says of itself in the page.
 * @typedef {{
 *   root: string, api_prefix: string,
 *   components: { id: number, props: { elem_id?: string } }[],
 *   dependencies: { id: number, targets: [number, string][] }[],
 * }} Config
 */

/**
 * `id` is the component's own name, `name` that of its event; `token` that of the server's start.
 * @param {Config} config
 * @param {string} id
 * @param {string} name
 * @param {string} token
 */
export function whereIs({ root, api_prefix, components, dependencies }, id, name, token) {
  const own = components.find(({ props }) => props.elem_id === id);
  const event = dependencies.find(({ targets }) =>
    targets.some(([target, happens]) => target === own?.id && happens === name),
  );
  if (!own || !event) throw new Error("This page does not find itself in gradio's.");
  // A proxy may speak another protocol than the server believes.
  const { pathname } = new URL(root, location.href);
  const home = `${location.origin}${pathname}`;
  return { root: home, prefix: api_prefix, component: own.id, event: event.id, token };
}

/** What gradio says of itself in this page. @returns {Config} */
export function gradioConfig() {
  const { gradio_config } = /** @type {{ gradio_config: Config }} */ (/** @type {any} */ (window));
  return gradio_config;
}
