import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { NewRelay, RELAY_SECRETS } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import { assertSettings, type RelaySettings } from "./settings.ts";

/** A fault of a file of relays. The message names the place in it and holds no secret. */
export class RelayFileError extends Error {
  override name = "RelayFileError";
}

type Fields = Record<string, unknown>;

/** Reads a file of relays: JSON, `{ "relays": [ … ] }`, each with the fields of `relays.add`. Throws RelayFileError. */
export function readRelayFile(path: string): RelaySettings[] {
  const folder = dirname(path);
  const content = parse(readText(path, "The file"));
  const list = isFields(content) ? content.relays : undefined;
  if (!isFields(content) || !Array.isArray(list) || Object.keys(content).length > 1)
    throw new RelayFileError('The file must be {"relays": [ … ]}.');
  const relays = list.map((entry: unknown, i) => toRelay(entry, i, folder));
  const names = relays.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new RelayFileError(`The relay ${twice} is there twice.`);
  for (const { name, fallback = [] } of relays)
    for (const other of fallback)
      if (!names.includes(other) && other !== "default")
        throw new RelayFileError(`The relay ${name} names the fallback ${other}, which the file does not have.`);
  return relays;
}

function toRelay(entry: unknown, i: number, folder: string): RelaySettings {
  const at = `relays[${i}]`;
  if (!isFields(entry)) throw new RelayFileError(`${at} must be an object.`);
  const parsed = NewRelay.safeParse(insertFiles(entry, at, folder));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new RelayFileError(`${at}.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`);
  }
  try {
    assertSettings(parsed.data, `${at}.`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new RelayFileError(`${error.details[0]?.path ?? at}: ${error.message}`);
  }
  return parsed.data;
}

/** The fields of a relay with the contents of the files that it names. */
function insertFiles(entry: Fields, at: string, folder: string): Fields {
  const fields = { ...entry };
  // Secrets may be in files of their own, such as those of a secret store: `passwordFile` next to the file of relays.
  for (const secret of RELAY_SECRETS) insertFile(fields, secret, `${at}.`, folder);
  if (Array.isArray(fields.dkim))
    fields.dkim = fields.dkim.map((key: unknown, i) => {
      if (!isFields(key)) return key;
      const own = { ...key };
      insertFile(own, "privateKey", `${at}.dkim[${i}].`, folder);
      return own;
    });
  return fields;
}

function insertFile(fields: Fields, name: string, at: string, folder: string): void {
  const { [`${name}File`]: file } = fields;
  if (file === undefined) return;
  if (fields[name] !== undefined || typeof file !== "string")
    throw new RelayFileError(`${at}${name}: give either ${name} or ${name}File, a path.`);
  fields[name] = readText(resolve(folder, file), `${at}${name}File`).trim();
  delete fields[`${name}File`];
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new RelayFileError(`${what} ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message may quote a password.
    throw new RelayFileError("The file is not valid JSON.");
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
