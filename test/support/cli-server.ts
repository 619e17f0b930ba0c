import { createReadStream, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Writable } from "node:stream";
import { processHost } from "../../packages/cli/src/process-host.ts";
import { run } from "../../packages/cli/src/run.ts";
import type { Host, In } from "../../packages/cli/src/types.ts";

/** Runs command lines of `mailsvc` in this process for shells, which spares each of them a process of 170 ms. */
export interface CliServer extends AsyncDisposable {
  /** The part of a shell script that hands its own command line in, `mailsvc` first, and exits as the command did. */
  readonly script: string;
}

/**
 * Starts the server, with its files in this folder. Arguments, variables, folder and stdin are those of the shell that calls, which must be
 * a process of the same Linux machine; on other systems the script does nothing.
 */
export async function startCliServer(folder: string): Promise<CliServer> {
  mkdirSync(folder);
  const socket = join(folder, "socket");
  const server = createServer(async (request, response) => {
    const pid = (request.url ?? "").slice(1);
    const stop = new AbortController();
    response.on("close", () => stop.abort());
    let said = "";
    const stderr = new Writable({
      write: (chunk, _encoding, next) => {
        said += chunk;
        next();
      },
    });
    const code = await run({ ...hostOf(pid, stop.signal), stdout: response, stderr }).catch((error: Error) => {
      said += error.stack;
      return 1;
    });
    writeFileSync(join(folder, `${pid}.err`), said);
    writeFileSync(join(folder, `${pid}.code`), `${code}`);
    response.end();
  });
  await new Promise<void>((open) => server.listen(socket, open));
  const script = `if [ -d /proc/$$ ]; then
  curl -sN --unix-socket '${socket}' "http://cli/$$"
  cat '${folder}'/$$.err >&2
  exit "$(cat '${folder}'/$$.code)"
fi
`;
  return {
    script,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The machine as a process sees it. */
function hostOf(pid: string, stop: AbortSignal): Host {
  const words = (file: string): string[] => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").slice(0, -1);
  const argv = words("cmdline");
  const stdin = createReadStream(`/proc/${pid}/fd/0`);
  // A command that reads nothing may have ended before the file is opened.
  stdin.on("error", () => {});
  const env = Object.fromEntries(words("environ").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  return {
    ...processHost,
    argv: argv.slice(argv.indexOf("mailsvc") + 1),
    env,
    stdin: stdin as unknown as In,
    home: env["HOME"] ?? processHost.home,
    cwd: readlinkSync(`/proc/${pid}/cwd`),
    onSignal: (fire) => {
      const hear = (): void => fire("SIGTERM");
      stop.addEventListener("abort", hear);
      return () => stop.removeEventListener("abort", hear);
    },
    exitAfter: () => {},
    onParentExit: () => () => {},
  };
}
