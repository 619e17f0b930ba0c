// JSON Schemas as TypeScript, for the types that are generated from the contract.

/**
 * @param {Record<string, any>} schema
 * @param {{ indent?: string, nameOf?: (id: string) => string, instant?: string, base64?: string }} [how]
 *   `nameOf` gives the type of a named schema; `instant` and `base64` are what such texts may be.
 * @returns {string} its type
 */
export function typeOf(schema, how = {}) {
  const { indent = "", nameOf = (id) => id, instant = "string", base64 = "string" } = how;
  const inner = (part) => typeOf(part, how);
  if (schema.tsType) return schema.tsType;
  if (schema.$ref) return nameOf(schema.$ref.split("/").at(-1));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return [...new Set(union.map(inner))].join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => inner({ ...schema, type })).join(" | ");
  if (schema.type === "array") return arrayOf(inner(schema.items ?? {}));
  if (schema.type === "integer") return "number";
  if (schema.type === "string") return schema.format === "date-time" ? instant : schema.contentEncoding === "base64" ? base64 : "string";
  if (schema.type !== "object") return schema.type ?? "unknown";
  return schema.properties ? objectOf(schema, { ...how, indent: `${indent}  ` }, indent) : recordOf(schema, inner);
}

/**
 * @param {string} text
 * @param {string} [indent]
 * @returns {string[]} lines of a comment that editors show
 */
export function commentOf(text, indent = "") {
  const lines = text.replaceAll("*/", "*\\/").split("\n");
  return lines.length === 1
    ? [`${indent}/** ${lines[0]} */`]
    : [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

const arrayOf = (item) => (/^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`);

function recordOf({ additionalProperties }, inner) {
  return `Record<string, ${typeof additionalProperties === "object" ? inner(additionalProperties) : "unknown"}>`;
}

function objectOf({ properties, required = [] }, how, closing) {
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const needed = required.includes(name);
    const type = typeOf(field, how);
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const line = `${how.indent}${key}${needed ? "" : "?"}: ${type}${!needed && type !== "unknown" ? " | undefined" : ""};`;
    return field.description ? [...commentOf(field.description, how.indent), line] : [line];
  });
  return fields.length === 0 ? "Record<never, never>" : `{\n${fields.join("\n")}\n${closing}}`;
}
