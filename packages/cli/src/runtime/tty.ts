import type { Host, Out, Style, Terminal } from "../types.ts";

export function createStyle(on: boolean): Style {
  return {
    bold: paint(on, 1, 22),
    dim: paint(on, 2, 22),
    red: paint(on, 31, 39),
    green: paint(on, 32, 39),
    yellow: paint(on, 33, 39),
    cyan: paint(on, 36, 39),
  };
}

/** True if a stream gets colours: NO_COLOR turns them off, FORCE_COLOR on; otherwise they need a capable terminal. */
function hasColor(env: Host["env"], stream: Out): boolean {
  if (env["NO_COLOR"]) return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

export function detectTerminal(host: Host): Terminal {
  return {
    out: createStyle(hasColor(host.env, host.stdout)),
    err: createStyle(hasColor(host.env, host.stderr)),
    columns: host.stdout.columns || Number(host.env["COLUMNS"]) || 80,
    stdoutTTY: host.stdout.isTTY === true,
    stderrTTY: host.stderr.isTTY === true,
    interactive: isInteractive(host),
  };
}

function paint(on: boolean, open: number, close: number) {
  return (text: string): string => (on && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text);
}

/** True when a person types stdin and reads stderr. */
function isInteractive(host: Host): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true && !host.env["CI"] && host.env["TERM"] !== "dumb";
}
