// What the page's programs share: elements, numbers and names. Text is only ever set as text.
const page = (() => {
  const LONGEST = 60; // characters of a cell that are shown
  const OBEYED = /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
  const SVG = "http://www.w3.org/2000/svg";

  const find = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(find(id).textContent);
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const drawn = (name, attributes, ...children) => {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...children);
    return made;
  };
  const escape = (found) => {
    const code = found.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  };
  const visible = (text) => String(text).replace(OBEYED, escape);
  const data = (text) => element("bdi", { textContent: visible(text) });
  const shown = (cell) => {
    if (Array.isArray(cell)) return cell.map((of) => shown(of) || "missing").join(" · ");
    if (cell === null) return "";
    if (typeof cell === "boolean") return cell ? "True" : "False";
    if (typeof cell === "number") return String(Number(cell.toPrecision(6)));
    return cell.length > LONGEST ? `${cell.slice(0, LONGEST)}…` : cell;
  };
  const nats = (weight) => {
    const digits = Number.isFinite(weight) ? weight.toFixed(3) : String(weight).slice(0, 4).toLowerCase();
    return weight > 0 || Number(digits) === 0 ? `+${digits.replace("-", "")}` : digits;
  };
  const options = (select, names) => {
    select.replaceChildren(...names.map((name, i) => element("option", { value: i, textContent: visible(name) })));
  };
  return { find, read, element, drawn, visible, data, shown, nats, options };
})();
// Of bodies that are chosen by their name one is seen.
document.querySelectorAll(".chooser").forEach((of) => {
  const select = of.querySelector("select"), bodies = [...of.children].slice(1);
  const show = () => bodies.forEach((body, i) => { body.hidden = i !== select.selectedIndex; });
  select.addEventListener("input", show);
  show();
});
