const WIDTH = 120;

/** Formats JSON for reading and line diffs: what fits on a line is on one, everything else has a line for each member. */
export function formatJson(value: unknown, indent = ""): string {
  const inline = formatInline(value);
  if (typeof value !== "object" || value === null || indent.length + inline.length < WIDTH) return inline;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => formatJson(item, inner))
    : listMembers(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`;
}

/** Formats an object whose members have a line each, however short they are: the form of a file. */
export function formatJsonFile(value: object): string {
  const members = listMembers(value).map(([key, item]) => `  ${JSON.stringify(key)}: ${formatMember(item)}`);
  return `{\n${members.join(",\n")}\n}\n`;
}

// An array of objects has a line for each of them, so that a diff shows which ones changed.
function formatMember(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === "object" && item !== null))
    return formatJson(value, "  ");
  return `[\n${value.map((item) => `    ${formatJson(item, "    ")}`).join(",\n")}\n  ]`;
}

function formatInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatInline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = listMembers(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatInline(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function listMembers(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}
