"use strict";
// Tabs and readings for a page that is whole without them: nothing here is needed to read or to print it.
document.documentElement.classList.add("js");

const tabs = [...document.querySelectorAll("[role=tab]")];

function open(tab) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

/** Where a key leads among so many places, or undefined for a key that leads nowhere. */
function moved(key, place, count) {
  return {
    ArrowRight: Math.min(place + 1, count - 1),
    ArrowLeft: Math.max(place - 1, 0),
    Home: 0,
    End: count - 1,
  }[key];
}

tabs.forEach((tab, place) => {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (event) => {
    const next = tabs[moved(event.key, place, tabs.length)];
    if (!next) return;
    event.preventDefault();
    next.focus();
    open(next);
  });
});
open(tabs.find((tab) => "#" + tab.getAttribute("aria-controls") === location.hash) || tabs[0]);

window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});

for (const figure of document.querySelectorAll("figure.chart")) {
  const svg = figure.querySelector("svg");
  const cursor = svg.querySelector(".cursor");
  const ring = svg.querySelector(".ring");
  const output = figure.querySelector("output");
  const stops = JSON.parse(figure.querySelector("script").textContent);
  if (!stops.length) continue;
  let place = -1;

  const show = (next) => {
    place = next;
    const stop = stops[place];
    const single = "y" in stop;
    cursor.setAttribute("x1", stop.x);
    cursor.setAttribute("x2", stop.x);
    ring.setAttribute("cx", stop.x);
    ring.setAttribute("cy", stop.y ?? 0);
    cursor.style.display = single ? "none" : "inline";
    ring.style.display = single ? "inline" : "none";
    output.textContent = stop.text;
  };
  const hide = () => {
    place = -1;
    cursor.style.display = ring.style.display = "none";
    output.textContent = "";
  };

  svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = (stop) => Math.hypot(stop.x - at.x, "y" in stop ? stop.y - at.y : 0);
    let best = 0;
    stops.forEach((stop, i) => { if (far(stop) < far(stops[best])) best = i; });
    show(best);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const next = moved(event.key, place, stops.length);
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  });
}
