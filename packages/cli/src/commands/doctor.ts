import { contract } from "@mailsvc/sdk/contract";
import { Command } from "commander";
import { act, type Run } from "../act.ts";
import { configPath, isExposed, readConfigFile } from "../config.ts";
import { type Failure, failureOf } from "../errors.ts";
import { EXIT, type Exit } from "../exit.ts";
import { callOf } from "../request.ts";
import { safeText } from "../safe-text.ts";
import type { Session } from "../session.ts";
import { statusColor } from "../views/status.ts";

/** What was looked at, and what was found. */
interface Check {
  name: string;
  status: "ok" | "warn" | "fail" | "skipped";
  detail: string;
  hint?: string;
}

interface Finding {
  check: Check;
  exit: Exit;
}

const WANTED = [22, 19] as const;

interface MeLike {
  workspace: { name: string };
  key: { name: string; preview: string };
  server: { version: string; dev: boolean; mailer: string };
}

/** `mailsvc doctor`: is everything in place? The exit code is that of the first failure. */
export function doctorCommand(run: Run): Command {
  return act(new Command("doctor").description("Check Node, settings, server, key and mailer"), run, "connect", async (session) => {
    const progress = session.progress("Looking");
    const findings = await diagnose(session).finally(() => progress.stop());
    const checks = findings.map((f) => f.check);
    const bad = findings.find((f) => f.check.status === "fail");
    await session.out.data({ ok: bad === undefined, checks }, () => render(checks, session));
    return bad?.exit ?? EXIT.ok;
  });
}

function good(name: string, detail: string): Finding {
  return { check: { name, status: "ok", detail }, exit: EXIT.ok };
}

function warning(name: string, detail: string, hint: string): Finding {
  return { check: { name, status: "warn", detail, hint }, exit: EXIT.ok };
}

function skipped(name: string, detail: string): Finding {
  return { check: { name, status: "skipped", detail }, exit: EXIT.ok };
}

function failed(name: string, f: Failure): Finding {
  return {
    check: { name, status: "fail", detail: f.message, ...(f.hint ? { hint: f.hint } : f.next ? { hint: f.next } : {}) },
    exit: f.exit,
  };
}

function node({ host }: Session): Finding {
  const [major = 0, minor = 0] = host.nodeVersion.replace(/^v/, "").split(".").map(Number);
  const enough = major > WANTED[0] || (major === WANTED[0] && minor >= WANTED[1]);
  return enough
    ? good("node", host.nodeVersion)
    : failed("node", {
        code: "node_too_old",
        message: `${host.nodeVersion} is too old.`,
        exit: EXIT.usage,
        hint: `Node ${WANTED.join(".")} or newer is needed.`,
      });
}

function config(session: Session): Finding {
  const path = configPath(session.host);
  try {
    const { profiles } = readConfigFile(path);
    const settings = session.settings();
    if (isExposed(path, session.host.platform))
      return warning("config", `${path} may be read by others on this machine.`, `chmod 600 ${path}`);
    const count = Object.keys(profiles).length;
    return good("config", count === 0 ? `no profile stored (${path})` : `profile ${settings.profile} in ${path}`);
  } catch (error) {
    return failed("config", failureOf(error));
  }
}

async function server(session: Session): Promise<Finding> {
  const { url } = session.settings();
  try {
    const from = session.host.now();
    const { data } = await session.send(callOf(contract.health.live, [], {}, undefined));
    const version = (data as { version?: unknown }).version;
    return good("server", `${url} answered in ${session.host.now() - from} ms${typeof version === "string" ? `, version ${version}` : ""}`);
  } catch (error) {
    return failed("server", failureOf(error, undefined, url));
  }
}

async function account(session: Session): Promise<Finding[]> {
  try {
    const { workspace, key, server: about } = (await session.send(callOf(contract.me.get, [], {}, undefined))).data as MeLike;
    const same = about.version === session.host.version;
    return [
      good("key", `${key.name} (${key.preview}), workspace ${workspace.name}`),
      same
        ? good("version", about.version)
        : warning("version", `the server is ${about.version}, this program ${session.host.version}`, "Use the same version of both."),
      about.mailer === "capture" && !about.dev
        ? warning("mailer", "capture: mail is kept, and sent to nobody", "Start the server with --smtp-url to send for real.")
        : good("mailer", about.dev && about.mailer === "capture" ? "capture (dev mode: mailsvc inbox list)" : about.mailer),
    ];
  } catch (error) {
    return [failed("key", failureOf(error)), skipped("mailer", "needs a valid key")];
  }
}

async function diagnose(session: Session): Promise<Finding[]> {
  const first = [node(session), config(session)];
  if (first[1]?.check.status === "fail")
    return [...first, skipped("server", "needs a readable config"), skipped("key", "needs a readable config")];
  const reached = await server(session);
  if (reached.check.status === "fail") return [...first, reached, skipped("key", "needs a server"), skipped("mailer", "needs a server")];
  return [...first, reached, ...(await account(session))];
}

function render(checks: readonly Check[], { term: { out } }: Session): string {
  return checks
    .map(
      (c) =>
        `${statusColor(out, c.status.padEnd(7)).replace(c.status.padEnd(7), statusColor(out, c.status) + " ".repeat(7 - c.status.length))} ${out.bold(c.name.padEnd(8))} ${safeText(c.detail)}${c.hint && c.status !== "ok" ? `\n${" ".repeat(17)}${out.dim(safeText(c.hint))}` : ""}`,
    )
    .join("\n");
}
