import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Host, Terminal } from "../types.ts";
import { getConfigPath } from "./config-file.ts";

/** Facts about newer versions, between two runs. */
interface Known {
  readonly checkedAt: number;
  readonly toldAt: number;
  readonly latest: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const NOTHING: Known = { checkedAt: 0, toldAt: 0, latest: null };

/** Variable that turns the note off. */
const OFF = "MAILSVC_NO_UPDATE_NOTICE";

/**
 * Asks npm once a day for the newest version, while the command runs. The returned function ends the question, answered or not, and says
 * once a day that there is a newer one. Only for people at a terminal: never in CI, in a pipe or with --quiet.
 */
export function watchForUpdate(host: Host, term: Terminal, say: (text: string) => void): () => void {
  if (!term.stdoutTTY || !term.stderrTTY || host.env["CI"] || host.env[OFF] || !host.fetch) return () => {};
  const path = join(dirname(getConfigPath(host)), "newest-version.json");
  const stop = new AbortController();
  let known = load(path);
  if (host.now() - known.checkedAt > DAY_MS)
    void askNewest(host, stop.signal).then(
      (latest) => {
        known = { ...known, checkedAt: host.now(), latest };
        save(path, known);
      },
      // Without a network there is nothing to say.
      () => {},
    );
  return () => {
    stop.abort();
    const { latest, toldAt } = known;
    if (latest === null || !isNewer(latest, host.version) || host.now() - toldAt < DAY_MS) return;
    save(path, { ...known, toldAt: host.now() });
    say(`Version ${latest} is out; this is ${host.version}. Update: npm install --global mailsvc@latest (no more of this: ${OFF}=1)`);
  };
}

async function askNewest({ fetch = globalThis.fetch, env }: Host, signal: AbortSignal): Promise<string | null> {
  const registry = env["npm_config_registry"] ?? "https://registry.npmjs.org";
  const response = await fetch(`${registry.replace(/\/+$/, "")}/mailsvc/latest`, { signal });
  const { version } = (await response.json()) as { version?: unknown };
  return typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version) ? version : null;
}

/** True if a version comes after another one. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number));
  const at = [0, 1, 2].find((i) => a?.[i] !== b?.[i]);
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

function load(path: string): Known {
  try {
    return { ...NOTHING, ...(JSON.parse(readFileSync(path, "utf8")) as Partial<Known>) };
  } catch {
    return NOTHING;
  }
}

/** Stores what is known; where nothing can be written, it is asked again. */
function save(path: string, known: Known): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(known), { mode: 0o600 });
  } catch {
    return;
  }
}
