"use strict";
// What the things that move share: elements, sliders, numbers, and a plane with axes and handles.
// A widget is a file that calls motion.add(name, draw); draw gets its element and its data, and
// returns what shows its state again, which is called too when the page's width or colours change.
const motion = (() => {
  const SVG = "http://www.w3.org/2000/svg", LEFT = 34, RIGHT = 10, TOP = 12, BOTTOM = 34, CELL = 6;
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
    PageUp: [0, 10], PageDown: [0, -10], Home: [-1e9, 0], End: [1e9, 0] };
  const widgets = new Map();

  function filled(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(name, value);
      else if (typeof value === "boolean") made.toggleAttribute(name, value);
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }
  const element = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
  const shape = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);
  const clip = (x, low, high) => Math.min(Math.max(x, low), high);

  // A number as it is read: few digits, a true minus sign; infinities and what is undefined in words.
  function said(x, digits = 3) {
    if (Number.isNaN(x)) return "undefined";
    if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
    const small = x !== 0 && Math.abs(x) < 0.5 * 10 ** -digits;
    return (small ? x.toExponential(1) : x.toFixed(digits)).replace(/-/g, "−");
  }
  const whole = (x) => said(x, 0);

  // --- Controls, which are the browser's own, so that keyboards and screen readers know them ---

  function slider(host, { name, min, max, step, value, says = said, input }) {
    const shown = element("output"), range = element("input", { type: "range", min, max, step, value });
    const show = () => { shown.textContent = says(range.valueAsNumber); range.setAttribute("aria-valuetext", shown.textContent); };
    range.addEventListener("input", () => { show(); input(range.valueAsNumber); });
    host.append(element("label", { class: "motion-slider" }, element("span", {}, name), range, shown));
    show();
    return { set(x) { range.value = x; show(); } };
  }

  let groups = 0;
  function choice(host, { name, of, value, input }) {
    const group = `motion-choice-${groups++}`, box = element("fieldset", { class: "motion-choice" }, element("legend", {}, name));
    for (const [key, title] of Object.entries(of)) {
      box.append(element("label", {}, element("input",
        { type: "radio", name: group, value: key, checked: key === value, input: () => input(key) }), ` ${title}`));
    }
    host.append(box);
  }

  const buttons = (host, of) => host.append(element("div", { class: "motion-buttons" },
    ...Object.entries(of).map(([name, click]) => element("button", { type: "button", click }, name))));

  // What each line of a drawing is, by its colour.
  const key = (host, of) => host.append(element("p", { class: "motion-key" }, ...of.map(
    ([style, words]) => element("span", {}, element("span", { class: `motion-mark ${style}` }), words))));

  // A list of named numbers; each keeps all its digits in data-value, by its name.
  function numbers(host) {
    const list = element("dl", { class: "motion-numbers" });
    host.append(list);
    return (of) => list.replaceChildren(...of.map(([name, value, text = said(value)]) => element("div", {},
      element("dt", {}, name), element("dd", { "data-name": name, "data-value": String(value) }, text))));
  }

  // The posterior: a bar for each class, in its colour.
  function posterior(host, classes) {
    const bars = classes.map((name, c) => {
      const fill = element("span", { class: `motion-fill c${c}` }), value = element("span", { class: "n" });
      host.append(element("div", { class: "motion-bar" }, element("span", {}, name), element("span", { class: "motion-track" }, fill), value));
      return { fill, value };
    });
    return (p) => p.forEach((of, c) => {
      bars[c].fill.style.width = `${100 * of}%`;
      bars[c].value.textContent = said(of);
      Object.assign(bars[c].value.dataset, { name: `p(${classes[c]})`, value: of });
    });
  }

  // --- A plane ---

  // Round numbers along an axis.
  function ticks([low, high], most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push([i * step, said(i * step, digits)]);
    return found;
  }

  // A path through segments that meet at their ends, so that a dashed line has even dashes.
  function chained(segments) {
    const next = new Map();
    const join = (a, b) => next.set(a, [...(next.get(a) ?? []), b]);
    for (const [a, b] of segments) if (a !== b) { join(a, b); join(b, a); }
    let path = "M0 0";
    for (let [at] of [...next].sort((a, b) => a[1].length - b[1].length)) {
      if (next.get(at).length) path += `M${at}`;
      while (next.get(at).length) {
        const to = next.get(at).pop(), back = next.get(to);
        back.splice(back.indexOf(at), 1);
        path += `L${at = to}`;
      }
    }
    return path;
  }

  // Axes of given intervals, as wide as their place; lines and areas are drawn anew each time, and
  // handles stay, so that they keep the focus. "clear" begins a drawing.
  function plane(host, { label, x, y, height: given = 260, square = false, xName = "", yName = "", hideY = false }) {
    const below = shape("g"), above = shape("g"), left = hideY ? RIGHT : LEFT;
    const svg = shape("svg", { class: "motion-plane", role: "group", "aria-label": label }, below, above);
    host.append(svg);
    const of = { x, y, width: 600, svg };
    let height = given;
    const toX = (value) => left + ((value - of.x[0]) / (of.x[1] - of.x[0])) * (of.width - left - RIGHT);
    const toY = (value) => height - BOTTOM - ((value - of.y[0]) / (of.y[1] - of.y[0])) * (height - TOP - BOTTOM);
    const at = ([a, b]) => `${toX(a).toFixed(1)} ${clip(toY(b), -999, 9999).toFixed(1)}`;
    const put = (name, attributes, ...children) => { const made = shape(name, attributes, ...children); below.append(made); return made; };
    const text = (a, b, words, attributes = {}) => put("text", { x: a, y: b, ...attributes }, words);
    const handles = [];

    of.clear = () => {
      of.width = Math.max(host.clientWidth, 200);
      if (square) height = TOP + BOTTOM + ((of.width - left - RIGHT) * (of.y[1] - of.y[0])) / (of.x[1] - of.x[0]);
      filled(svg, { viewBox: `0 0 ${of.width} ${height}`, height }, []);
      const clipping = `motion-clip-${plane.made++}`, right = of.width - RIGHT, bottom = height - BOTTOM;
      below.replaceChildren(shape("clipPath", { id: clipping }, shape("rect", { x: left, y: TOP - 4, width: right - left, height: bottom - TOP + 5 })));
      of.clipping = `url(#${clipping})`;
    };
    of.frame = () => {
      const right = of.width - RIGHT, bottom = height - BOTTOM;
      put("path", { class: "motion-axis", d: `M ${left} ${hideY ? bottom : TOP} V ${bottom} H ${right}` });
      for (const [value, words] of ticks(of.x, of.width / 45)) {
        put("path", { class: "motion-axis", d: `M ${toX(value)} ${bottom} v 4` });
        text(toX(value), bottom + 16, words, { "text-anchor": "middle" });
      }
      for (const [value, words] of hideY ? [] : ticks(of.y, height / 60)) {
        put("path", { class: "motion-axis", d: `M ${left} ${toY(value)} h -4` });
        text(left - 6, toY(value) + 4, words, { "text-anchor": "end" });
      }
      text((left + right) / 2, height - 3, xName, { "text-anchor": "middle" });
      if (yName) text(left + 7, TOP + 2, yName);
      for (const show of handles) show();
    };
    of.line = (points, style) => put("path", { class: `motion-line ${style}`, "clip-path": of.clipping, d: `M ${points.map(at).join(" L ")}` });
    of.area = (points, style) => put("path", { class: `motion-area ${style}`, "clip-path": of.clipping, d: `M ${points.map(at).join(" L ")} Z` });
    of.dot = (a, b, style) => put("circle", { class: `motion-dot ${style}`, cx: toX(a), cy: toY(b), r: 5 });
    of.label = (a, b, words, attributes) => text(toX(a), toY(b), words, attributes);
    of.from = (event) => {
      const box = svg.getBoundingClientRect(), [px, py] = [event.clientX - box.left, event.clientY - box.top];
      return [of.x[0] + ((px - left) / (of.width - left - RIGHT)) * (of.x[1] - of.x[0]),
        of.y[0] + ((height - BOTTOM - py) / (height - TOP - BOTTOM)) * (of.y[1] - of.y[0])];
    };
    of.apart = ([a, b], [c, d]) => Math.hypot(toX(a) - toX(c), toY(b) - toY(d)); // in pixels

    // Shade the plane by the log odds of the second class against the first, and draw the border.
    of.regions = (odds, shade = true, style = "") => {
      const nx = Math.ceil((of.width - left - RIGHT) / CELL), ny = Math.ceil((height - TOP - BOTTOM) / CELL);
      const xs = Array.from({ length: nx + 1 }, (_, i) => of.x[0] + (i / nx) * (of.x[1] - of.x[0]));
      const ys = Array.from({ length: ny + 1 }, (_, j) => of.y[0] + (j / ny) * (of.y[1] - of.y[0]));
      const grid = ys.map((b) => xs.map((a) => odds(a, b))), tones = new Map();
      const border = [];
      for (let j = 0; j < ny; j++) {
        for (let i = 0; i < nx; i++) {
          const corners = [grid[j][i], grid[j][i + 1], grid[j + 1][i + 1], grid[j + 1][i]];
          const mean = corners.reduce((a, b) => a + b, 0) / 4, p = 1 / (1 + Math.exp(-Math.abs(mean)));
          const tone = `${mean > 0 ? "c1" : "c0"} tone${Math.min(Math.floor(10 * (p - 0.5)), 4)}`;
          const [a, b, c, d] = [toX(xs[i]), toY(ys[j + 1]), toX(xs[i + 1]), toY(ys[j])].map((v) => v.toFixed(1));
          tones.set(tone, `${tones.get(tone) ?? ""}M${a} ${b}H${c}V${d}H${a}Z`);
          const spots = [[xs[i], ys[j]], [xs[i + 1], ys[j]], [xs[i + 1], ys[j + 1]], [xs[i], ys[j + 1]]], ends = [];
          for (let k = 0; k < 4; k++) {
            const [u, v] = [corners[k], corners[(k + 1) % 4]], [f, g] = [spots[k], spots[(k + 1) % 4]];
            if (u > 0 !== v > 0) ends.push(f.map((of1, axis) => of1 + (u / (u - v)) * (g[axis] - of1)));
          }
          for (let k = 0; k + 1 < ends.length; k += 2) border.push([at(ends[k]), at(ends[k + 1])]);
        }
      }
      if (shade) for (const [tone, d] of tones) put("path", { class: `motion-region ${tone}`, d });
      put("path", { class: `motion-line border ${style}`, d: chained(border) });
    };

    // What is dragged, by pointer or arrow keys: "at" is where it is, "move" takes it elsewhere,
    // "nudge" is a step by keyboard, "range" its first number's interval, "says" its value in words.
    of.handle = ({ name, at: where, move, step = [0.1, 0.1], range = of.x, says, style = "", cross = false, hidden = () => false,
      nudge = ([a, b], [dx, dy]) => move(clip(a + dx * step[0], ...range), b + dy * step[1]), keys = {} }) => {
      const mark = cross ? shape("path", { d: "M-9 0H9M0 -9V9" }) : shape("circle", { r: 7 });
      const g = shape("g", { class: `motion-handle ${style}`, role: "slider", tabindex: 0, "aria-label": name }, shape("circle", { r: 20, class: "reach" }), mark);
      above.append(g);
      handles.push(() => {
        const [a, b] = where();
        g.style.display = hidden() ? "none" : "";
        filled(g, { transform: `translate(${toX(a)} ${clip(toY(b), TOP, height - BOTTOM)})`,
          "aria-valuemin": range[0], "aria-valuemax": range[1], "aria-valuenow": Number(a.toPrecision(6)), "aria-valuetext": says() }, []);
      });
      g.addEventListener("pointerdown", (event) => { g.setPointerCapture(event.pointerId); g.focus(); event.stopPropagation(); event.preventDefault(); });
      g.addEventListener("pointermove", (event) => { if (g.hasPointerCapture(event.pointerId)) move(...of.from(event)); });
      g.addEventListener("keydown", (event) => {
        if (keys[event.key]) keys[event.key](); else if (KEYS[event.key]) nudge(where(), KEYS[event.key].map((d) => (event.shiftKey ? 10 : 1) * d));
        else return;
        event.preventDefault();
      });
      return g;
    };
    return of;
  }
  plane.made = 0;

  // A scorer by a scorecard made here of parameters, as naively exports it of a model.
  const scorer = (classes, logPrior, terms) => naively.scorer({
    naively: "scorecard", version: 1, classes, log_prior: logPrior, start: logPrior, terms, columns: [],
    ...(terms.some(({ term }) => term === "tokens") ? { unicode: motion.unicode } : {}),
  });

  function begin() {
    const shows = [];
    for (const host of document.querySelectorAll(".motion[data-motion]")) {
      const found = host.querySelector("script[type='application/json']");
      const place = element("div", { class: "motion-place" });
      host.append(place);
      const show = widgets.get(host.dataset.motion)(place, found ? JSON.parse(found.textContent) : null);
      shows.push(show);
      show();
    }
    let width = 0;
    new ResizeObserver(() => {
      if (document.body.clientWidth === width) return;
      width = document.body.clientWidth;
      shows.forEach((show) => show());
    }).observe(document.body);
  }
  document.addEventListener("DOMContentLoaded", begin);
  return { add: (name, draw) => widgets.set(name, draw), element, slider, choice, buttons, numbers, posterior, key, plane, scorer, said, whole, clip };
})();
