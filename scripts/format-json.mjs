const WIDTH = 160;

/** JSON for readers: what fits on a line is on one line. Keys keep their order. */
export const formatJson = (value) => `${format(value, 0, 0)}\n`;

/** @param {number} indent columns before the line @param {number} before characters of the key, before the value */
function format(value, indent, before) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  if (entries.length === 0) return `${open}${close}`;
  const pad = Array.isArray(value) ? "" : " ";
  const keys = entries.map(([key]) => (Array.isArray(value) ? "" : `${JSON.stringify(key)}: `));
  const flat = `${open}${pad}${entries.map(([, inner], i) => `${keys[i]}${format(inner, -Infinity, 0)}`).join(", ")}${pad}${close}`;
  if (indent + before + flat.length < WIDTH) return flat;
  const inside = " ".repeat(indent + 1);
  const lines = entries.map(([, inner], i) => `${inside}${keys[i]}${format(inner, indent + 1, keys[i].length)}`);
  return `${open}\n${lines.join(",\n")}\n${" ".repeat(indent)}${close}`;
}
