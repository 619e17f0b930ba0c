import { type Profiler, Session } from "node:inspector/promises";

/** Functions of the server, each once, and their modules. */
interface Executed {
  readonly functions: readonly string[];
  readonly rooms: readonly string[];
}

// The test runner adds a function for each export of a module, which is called for each use of it.
const EXPORT = /^\(\) => \{ try \{ return \w+ \} catch \{\} \}$/;

/**
 * Lists the functions that run in each turn of `work`. A timer that fires in one turn, or a loop that waits once more on a busy
 * machine, runs functions that are no part of the work.
 */
export async function listExecuted(turns: number, work: (turn: number) => Promise<void>): Promise<Executed> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Debugger.enable");
  try {
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    const ran: Set<string>[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      await work(turn);
      const { result } = await session.post("Profiler.takePreciseCoverage");
      ran.push(new Set((await Promise.all(result.map((script) => listOf(session, script)))).flat()));
    }
    const [first = new Set<string>(), ...others] = ran;
    const functions = [...first].filter((name) => others.every((turn) => turn.has(name)));
    return { functions, rooms: [...new Set(functions.flatMap((name) => /^(.+?)\//.exec(name)?.[1] ?? []))] };
  } finally {
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}

async function listOf(session: Session, { url, scriptId, functions }: Profiler.ScriptCoverage): Promise<string[]> {
  const file = /packages\/server\/src\/(.+\.ts)/.exec(url)?.[1];
  const ran = functions.flatMap(({ functionName, ranges: [range] }) => (range && range.count > 0 ? [{ functionName, range }] : []));
  if (file === undefined || ran.length === 0) return [];
  const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
  return ran
    .filter(({ range }) => !EXPORT.test(scriptSource.slice(range.startOffset, range.endOffset)))
    .map(({ functionName, range }) => `${file} ${functionName || `at ${range.startOffset}`}`);
}
