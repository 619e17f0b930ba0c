import type { Example } from "@mailsvc/sdk/contract";
import type { Field } from "./fields.ts";
import { argumentsOf, type Placed } from "./places.ts";
import { quote } from "./request.ts";

/** An example of the contract as it is typed. */
export function commandLine(place: Placed, fields: readonly Field[], example: Example): string {
  const values: Record<string, unknown> = { ...example.query, ...(example.body as Record<string, unknown> | undefined) };
  if (place.endpoint.file && values["contentBase64"] !== undefined) {
    values["file"] = values["fileName"];
    delete values["fileName"];
    delete values["contentBase64"];
  }
  const positional = place.positional.map((p) => p.field);
  const ids = argumentsOf(place.endpoint).map((name) => quote(example.params?.[name] ?? "…"));
  const first = positional.flatMap((name) => (values[name] === undefined ? [] : [quote(String(values[name]))]));
  const flags = fields
    .filter((f) => values[f.name] !== undefined && !positional.includes(f.name))
    .flatMap((f) => flagsOf(f, values[f.name]));
  return ["mailsvc", ...place.words, ...ids, ...first, ...flags].join(" ");
}

/** The examples of an endpoint, for its help; those without any input say nothing that usage does not. */
export function exampleHelp(place: Placed, fields: readonly Field[]): string {
  const { fixed = {} } = place;
  const says = (e: Example): boolean => Object.entries(fixed).every(([name, value]) => (e.body as Record<string, unknown>)[name] === value);
  const lines = (place.endpoint.examples ?? [])
    .filter(says)
    .map((e) => commandLine(place, fields, e))
    .filter((line) => line !== `mailsvc ${place.words.join(" ")}`);
  return lines.length === 0 ? "" : `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

function flagsOf(field: Field, value: unknown): string[] {
  const flag = `--${field.flag}`;
  switch (field.kind) {
    case "boolean":
      return [value === true || value === "true" ? flag : `--no-${field.flag}`];
    case "list":
      return (Array.isArray(value) ? value : [value]).flatMap((one) => [flag, quote(String(one))]);
    case "map":
      return Object.entries(value as Record<string, unknown>).flatMap(([k, v]) => [
        flag,
        quote(field.name === "headers" ? `${k}: ${v}` : `${k}=${v}`),
      ]);
    case "values":
      return Object.entries(value as Record<string, unknown>).flatMap(([k, v]) => [
        flag,
        quote(typeof v === "string" ? `${k}=${v}` : `${k}:=${JSON.stringify(v)}`),
      ]);
    case "json":
      return [flag, quote(JSON.stringify(value))];
    default:
      return [flag, quote(String(value))];
  }
}
