import type { Example } from "@mailsvc/sdk/contract";
import { shellQuote } from "../runtime/request.ts";
import type { CommandSpec } from "../types.ts";
import { listPathArguments } from "./command-map.ts";
import type { Field } from "./fields.ts";

/** Formats an example of the contract as a command line. */
export function formatCommandLine(spec: CommandSpec, fields: readonly Field[], example: Example): string {
  const values: Record<string, unknown> = { ...example.query, ...(example.body as Record<string, unknown> | undefined) };
  if (spec.endpoint.file && values["contentBase64"] !== undefined) {
    values["file"] = values["fileName"];
    delete values["fileName"];
    delete values["contentBase64"];
  }
  const { fromFile } = spec;
  if (fromFile !== undefined && values[fromFile] !== undefined) values[fromFile] = `${spec.words[0]}.csv`;
  const positional = [...spec.positional.map((p) => p.field), ...(fromFile === undefined ? [] : [fromFile])];
  const ids = listPathArguments(spec.endpoint).map((name) => shellQuote(example.params?.[name] ?? "…"));
  const first = positional.flatMap((name) =>
    values[name] === undefined ? [] : [values[name]].flat().map((one) => shellQuote(String(one))),
  );
  const flags = fields
    .filter((f) => values[f.name] !== undefined && !positional.includes(f.name))
    .flatMap((f) => formatFlags(f, values[f.name]));
  return ["mailsvc", ...spec.words, ...ids, ...first, ...flags].join(" ");
}

/** Formats the examples of an endpoint for its help, without those that have no input. */
export function formatExamples(spec: CommandSpec, fields: readonly Field[]): string {
  const { fixed = {} } = spec;
  const says = (e: Example): boolean => Object.entries(fixed).every(([name, value]) => (e.body as Record<string, unknown>)[name] === value);
  const lines = (spec.endpoint.examples ?? [])
    .filter(says)
    .map((e) => formatCommandLine(spec, fields, e))
    .filter((line) => line !== `mailsvc ${spec.words.join(" ")}`);
  return lines.length === 0 ? "" : `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

function formatFlags(field: Field, value: unknown): string[] {
  const flag = `--${field.flag}`;
  switch (field.kind) {
    case "boolean":
      return [value === true || value === "true" ? flag : `--no-${field.flag}`];
    case "list":
      return (Array.isArray(value) ? value : [value]).flatMap((one) => [flag, shellQuote(String(one))]);
    case "map":
      return Object.entries(value as Record<string, unknown>).flatMap(([k, v]) => [
        flag,
        shellQuote(field.name === "headers" ? `${k}: ${v}` : `${k}=${v}`),
      ]);
    case "values":
      return Object.entries(value as Record<string, unknown>).flatMap(([k, v]) => [
        flag,
        shellQuote(typeof v === "string" ? `${k}=${v}` : `${k}:=${JSON.stringify(v)}`),
      ]);
    case "json":
      return [flag, shellQuote(JSON.stringify(value))];
    default:
      return [flag, shellQuote(String(value))];
  }
}
