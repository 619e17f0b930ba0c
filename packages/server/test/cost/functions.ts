import { type Profiler, Session } from "node:inspector/promises";

/** Functions of the server that ran, each once, and their modules. */
interface Executed {
  readonly functions: readonly string[];
  readonly rooms: readonly string[];
}

// The test runner adds a function for each export of a module, which is called for each use of it.
const EXPORT = /^\(\) => \{ try \{ return \w+ \} catch \{\} \}$/;

export async function listExecuted(work: () => Promise<void>): Promise<Executed> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Debugger.enable");
  try {
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const functions = (await Promise.all(result.map((script) => listOf(session, script)))).flat();
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
