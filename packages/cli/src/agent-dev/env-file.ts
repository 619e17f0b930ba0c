import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** The variables of a `.env` file; none when there is no file. */
export function readEnvFile(path: string): Readonly<Record<string, string | undefined>> {
  return parseEnv(readText(path));
}

/**
 * Sets variables in a `.env` file that only its owner can read. Lines of other variables, comments and empty lines stay as they are.
 * The file is replaced at once, so that a crash leaves the old one or the new one. Returns the names that changed.
 */
export function writeEnvFile(path: string, values: Readonly<Record<string, string>>): string[] {
  const text = readText(path);
  const known = parseEnv(text);
  const changed = Object.keys(values).filter((name) => known[name] !== values[name]);
  if (changed.length === 0) {
    // It holds secrets, also when nothing is new.
    chmodSync(path, 0o600);
    return [];
  }
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const kept = lines.filter((line) => !changed.includes(nameOf(line) ?? ""));
  const content = [...kept, ...changed.map((name) => `${name}=${values[name]}`), ""].join("\n");
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
  return changed;
}

function nameOf(line: string): string | undefined {
  return /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/.exec(line)?.[1];
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
