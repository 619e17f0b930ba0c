import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../../test/support/free-port.ts";
import type { ReceivedMail } from "../src/mail/mailer.laws.ts";

const POSTFIX = "/usr/sbin/postfix";
const MASTER = "/usr/lib/postfix/sbin/master";
const NOBODY = 65534;
// A master that outlives its test run ends by itself.
const LIFETIME_S = 900;

/** Returns the reason no Postfix can run here; null when one can. */
export function postfixMissing(): string | null {
  if (process.getuid?.() !== 0) return "only root can run an instance of Postfix";
  try {
    for (const program of [POSTFIX, MASTER]) accessSync(program, constants.X_OK);
    return null;
  } catch {
    return "Postfix is not installed (apt-get install postfix)";
  }
}

export interface Postfix {
  port: number;
  /** Waits until `count` messages are in the mailbox and returns them, oldest first, without the lines Postfix put on top. */
  delivered(count: number): Promise<ReceivedMail[]>;
  /** Empties the mailbox. */
  empty(): Promise<void>;
  /** The process whose children are all others. */
  pid(): number;
  /** Kills all of its processes at once. */
  kill(): Promise<void>;
  /** Starts it again on its queue, at the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const TRACE = /^(?:(?:Return-Path|X-Original-To|Delivered-To|Received):.*\n(?:[ \t].*\n)*)+/;

/**
 * A private instance of the installed Postfix on a loopback port, with a maildir for example.com. `settings` add to those of its main.cf.
 * Touches nothing of the system's own.
 */
export async function startPostfix(settings: Readonly<Record<string, string>> = {}): Promise<Postfix> {
  // Postfix reads its folders as its own user. A server that ran in this process before has set a stricter umask.
  const umask = process.umask(0o022);
  const dir = await mkdtemp(join(tmpdir(), "mailsvc-postfix-"));
  const inbox = join(dir, "mail/inbox");
  const port = await freePort();
  await chmod(dir, 0o755);
  for (const name of ["config", "queue", "data", "mail"]) await mkdir(join(dir, name));
  await chown(join(dir, "mail"), NOBODY, NOBODY);
  await chown(join(dir, "data"), (await stat("/var/lib/postfix")).uid, (await stat("/var/lib/postfix")).gid);
  await writeFile(join(dir, "config/main.cf"), mainCf(dir, settings));
  await writeFile(join(dir, "config/master.cf"), masterCf(port));
  await writeFile(join(dir, "config/mailboxes"), "/^[^n@].*@example\\.com$/ inbox/\n");
  await writeFile(join(dir, "config/access"), "/^later@/ 450 4.2.0 Come back later\n");
  await promisify(execFile)(POSTFIX, ["-c", join(dir, "config"), "check"]);
  const start = (): ChildProcess => spawn(MASTER, ["-c", join(dir, "config"), "-e", String(LIFETIME_S)], { stdio: "ignore" });
  let master = start();
  process.umask(umask);
  const files = async (): Promise<string[]> => (await readdir(join(inbox, "new")).catch(() => [])).map((name) => join(inbox, "new", name));
  await until("its greeting", () => answers(port));
  return {
    port,
    delivered: async (count) => {
      await until(`delivery of ${count} messages`, async () => (await files()).length >= count);
      const dated = await Promise.all((await files()).map(async (path) => ({ path, at: (await stat(path, { bigint: true })).mtimeNs })));
      dated.sort((a, b) => (a.at < b.at ? -1 : 1));
      return Promise.all(dated.map(async ({ path }) => readMail(await readFile(path))));
    },
    empty: async () => {
      for (const path of await files()) await rm(path);
    },
    pid: () => master.pid ?? 0,
    kill: async () => {
      const gone = once(master, "exit");
      for (const pid of [...(await childrenOf(master.pid ?? 0)), master.pid ?? 0]) killProcess(pid);
      await gone;
    },
    restart: async () => {
      master = start();
      await until("its greeting", () => answers(port));
    },
    stop: async () => {
      await stopMaster(master);
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function mainCf(dir: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries({
    compatibility_level: "3.6",
    config_directory: `${dir}/config`,
    queue_directory: `${dir}/queue`,
    data_directory: `${dir}/data`,
    maillog_file_prefixes: dir,
    maillog_file: `${dir}/mail.log`,
    inet_interfaces: "127.0.0.1",
    inet_protocols: "ipv4",
    myhostname: "mx.example.com",
    mynetworks: "192.0.2.0/24",
    mydestination: "",
    local_transport: "error:no local mail",
    disable_dns_lookups: "yes",
    smtpd_peername_lookup: "no",
    message_size_limit: "50000000",
    virtual_mailbox_limit: "0",
    in_flow_delay: "0",
    smtputf8_enable: "yes",
    // Mail for anybody at example.com lands in one mailbox, except for nobody@ (unknown) and later@ (not now).
    virtual_mailbox_domains: "example.com",
    virtual_mailbox_base: `${dir}/mail`,
    virtual_mailbox_maps: `regexp:${dir}/config/mailboxes`,
    virtual_uid_maps: `static:${NOBODY}`,
    virtual_gid_maps: `static:${NOBODY}`,
    smtpd_relay_restrictions: "reject_unauth_destination",
    smtpd_recipient_restrictions: `check_recipient_access regexp:${dir}/config/access, reject_unauth_destination`,
    ...settings,
  })
    .map(([name, value]) => `${name} = ${value}\n`)
    .join("");
}

function masterCf(port: number): string {
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    "pickup unix n - n 60 1 pickup",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "proxymap unix - - n - - proxymap",
    "anvil unix - - n - 1 anvil",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "virtual unix - n n - - virtual",
    "smtp unix - - n - - smtp",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "postlog unix-dgram n - n - 1 postlogd",
    "",
  ].join("\n");
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => done(true)).once("error", () => done(false));
    socket.once("data", () => socket.end("QUIT\r\n"));
  });
}

async function until(what: string, met: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await met())) {
    if (performance.now() > end) throw new Error(`Postfix: ${what} did not happen in 20 s.`);
    await sleep(20);
  }
}

function readMail(file: Buffer): ReceivedMail {
  // Bytes are held as Latin-1 characters; Postfix stores LF for each CRLF.
  const text = file.toString("latin1");
  const [trace = ""] = TRACE.exec(text) ?? [];
  const field = (name: string): string => Buffer.from(new RegExp(`^${name}: <?(.*?)>?$`, "m").exec(trace)?.[1] ?? "", "latin1").toString();
  return {
    from: field("Return-Path"),
    to: field("X-Original-To"),
    raw: Buffer.from(text.slice(trace.length).replaceAll("\n", "\r\n"), "latin1"),
  };
}

async function stopMaster(master: ChildProcess): Promise<void> {
  if (master.exitCode !== null || master.signalCode !== null) return;
  const gone = new Promise((done) => master.once("exit", done));
  master.kill("SIGTERM");
  await gone;
}

async function childrenOf(pid: number): Promise<number[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return listed.split(" ").filter(Boolean).map(Number);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
