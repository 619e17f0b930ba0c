import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Flags } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { ask } from "../runtime/prompts.ts";
import { isRecord } from "../text/generic.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";
import type { Field } from "./fields.ts";
import { getAttributeName } from "./flags.ts";
import { findFault } from "./validate.ts";
import { type Raw, readValue } from "./values.ts";

/** Reads a request from --data and flags; flags override --data. Throws CliError. */
export async function readInput(session: Session, endpoint: Endpoint, fields: readonly Field[], flags: Flags): Promise<RequestInput> {
  const data = flags["data"] === undefined ? {} : await session.input.json(String(flags["data"]), "--data");
  if (!isRecord(data)) throw usageError("--data must be a JSON object: { … }.");
  const gathered: RequestInput = { query: {}, body: endpoint.body ? { ...data } : undefined };
  const reading = {
    input: session.input,
    serverNow: () => {
      session.usesClock = true;
      return session.serverNow(endpoint.access === "dev");
    },
  };
  for (const field of fields) {
    const raw = flags[getAttributeName(field)] as Raw | undefined;
    if (raw === undefined) continue;
    const target = field.where === "query" ? gathered.query : (gathered.body ?? {});
    target[field.name] = await readValue(field, raw, reading);
  }
  return gathered;
}

/** Prompts for missing required fields. Without a terminal, throws CliError, exit 2, that lists them. */
export async function promptForMissing(
  session: Session,
  endpoint: Endpoint,
  fields: readonly Field[],
  gathered: RequestInput,
): Promise<void> {
  const sideOf = (field: Field): Record<string, unknown> => (field.where === "query" ? gathered.query : (gathered.body ?? {}));
  const missing = fields.filter((f) => f.required && sideOf(f)[f.name] === undefined);
  if (missing.length === 0) return;
  if (!session.term.interactive || session.globals.json) {
    const names = missing.map((f) => `--${f.flag}`);
    throw usageError(`${names.join(", ")} ${names.length === 1 ? "is" : "are"} required.`, {
      code: "missing_flags",
      details: missing.map((f) => ({ path: f.name, flag: `--${f.flag}`, code: "required", message: f.description || "required" })),
    });
  }
  const reading = { input: session.input, serverNow: () => session.serverNow(endpoint.access === "dev") };
  for (const field of missing) {
    let value: unknown;
    const problem = async (text: string): Promise<string | undefined> => {
      try {
        value = await readValue(field, text, reading);
      } catch (error) {
        return (error as Error).message;
      }
      return findFault(endpoint, field, value) ?? undefined;
    };
    const about = [field.description, field.choices?.join(", ")].filter(Boolean).join(": ");
    await ask(session.host, session.term, `${field.flag.replaceAll("-", " ")}${about === "" ? "" : ` (${about})`}:`, problem);
    sideOf(field)[field.name] = value;
  }
}

/** The fields, with those marked that were given as arguments. */
export function markArguments(spec: CommandSpec, fields: readonly Field[], args: readonly unknown[]): readonly Field[] {
  const given = new Set(spec.positional.flatMap(({ field }, i) => (isGiven(args[i]) ? [field] : [])));
  return fields.map((field) => (given.has(field.name) ? { ...field, asArgument: true as const } : field));
}

// A variadic argument is an empty list when absent.
function isGiven(arg: unknown): boolean {
  return arg !== undefined && !(Array.isArray(arg) && arg.length === 0);
}

/** Adds positional arguments to the flags of the fields they set. Throws CliError when a field is given both ways. */
export function mergeArguments(spec: CommandSpec, fields: readonly Field[], args: readonly unknown[], flags: Flags): Flags {
  const merged: Record<string, unknown> = { ...flags };
  spec.positional.forEach(({ field: name, fallback }, i) => {
    const field = fields.find((f) => f.name === name);
    if (!field) return;
    const given = isGiven(args[i]) ? args[i] : undefined;
    const attribute = getAttributeName(field);
    if (given !== undefined && merged[attribute] !== undefined)
      throw usageError(`${name} is given twice, as "${String(given)}" and with --${field.flag}.`);
    // With --data, the default would override the value in it.
    merged[attribute] ??= given ?? (merged["data"] === undefined ? fallback : undefined);
  });
  return merged;
}
