// Draws the figures of a report when they come near, or before they are printed.
// @ts-check
"use strict";
(() => {
  /** @type {any} */
  const plotly = Reflect.get(window, "Plotly");
  /** @param {Element} place */
  function draw(place) {
    watch.unobserve(place);
    if (place.classList.contains("drawn")) return;
    place.classList.add("drawn");
    const data = document.getElementById(`data-${place.id}`)?.textContent ?? "{}";
    const { data: traces, layout } = JSON.parse(data);
    plotly.newPlot(place, traces, layout, {
      displaylogo: false,
      responsive: true,
      showSendToCloud: false,
      toImageButtonOptions: { format: "svg", filename: place.id },
    });
  }
  const watch = new IntersectionObserver(
    (seen) => {
      for (const one of seen) if (one.isIntersecting) draw(one.target);
    },
    { rootMargin: "600px" },
  );
  const places = document.querySelectorAll(".plot");
  for (const place of places) watch.observe(place);
  window.addEventListener("beforeprint", () => {
    for (const place of places) draw(place);
  });
})();
