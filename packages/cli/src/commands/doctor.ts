import {
  type Contract,
  contract,
  type DomainCheck,
  type InboundDomain,
  type MailsvcContract,
  type Output,
  type Sender,
  type SmtpPort,
} from "@mailsvc/sdk/contract";
import { Command } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { getConfigPath, isExposed, readConfigFile } from "../runtime/config-file.ts";
import { CliError, toFailure } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { MINIMUM_NODE } from "../runtime/minimum-node.ts";
import { buildCall } from "../runtime/request.ts";
import { isNewer } from "../runtime/update-notice.ts";
import { safeText } from "../text/safe-text.ts";
import type { Failure, Session } from "../types.ts";
import { renderDomainCheck } from "../views/domains.ts";
import { paintStatus } from "../views/status.ts";
import { lacksName, NAME_BRAND } from "./brand-name.ts";

/** One check and its result. */
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

const TLS_WORDS: Readonly<Record<SmtpPort["tls"], string>> = { none: " without TLS", starttls: " with STARTTLS", implicit: " with TLS" };

// Mails from private addresses alone, from which on doctor warns.
const PRIVATE_PEERS = 5;

type Me = Output<MailsvcContract["me"]["get"]>;

/**
 * `mailsvc doctor`: checks the setup, or with --domain the DNS records of a domain. The exit code is that of the first failure; of a domain
 * it is 11.
 */
export function doctorCommand(run: Run): Command {
  const command = new Command("doctor")
    .description("Check Node, settings, server, key, relays, or a domain's records")
    .option("--domain <domain>", "check SPF, DKIM, DMARC, PTR and MX of this domain or sender address instead")
    .option("--selector <selector>", "with --domain: DKIM selector of a provider that signs the mail itself")
    .option("--ip <address>", "with --domain: public address that mail leaves from, if the relay is on this machine");
  return runAction(command, run, "connect", async (session, _args, options) => {
    const { domain, selector, ip } = options as { readonly domain?: string; readonly selector?: string; readonly ip?: string };
    if (domain !== undefined)
      return checkDomain(session, { domain, ...(selector !== undefined && { selector }), ...(ip !== undefined && { ip }) });
    if (selector !== undefined || ip !== undefined)
      throw new CliError({ code: "domain_missing", message: "--selector and --ip go with --domain.", exit: EXIT.usage });
    const progress = session.progress("Checking");
    const findings = await diagnose(session).finally(() => progress.stop());
    const checks = findings.map((f) => f.check);
    const bad = findings.find((f) => f.check.status === "fail");
    await session.out.data({ ok: bad === undefined, checks }, () => render(checks, session));
    return bad?.exit ?? EXIT.ok;
  });
}

/** Checks the DNS records that receivers look up. */
async function checkDomain(session: Session, query: { readonly [name: string]: string }): Promise<Exit> {
  const progress = session.progress("Asking the name servers");
  const call = buildCall(contract.domains.check, [], query, undefined);
  const check = (await session.send(call).finally(() => progress.stop())).data as DomainCheck;
  await session.out.data(check, () => renderDomainCheck(check, session));
  return check.ok ? EXIT.ok : EXIT.partial;
}

function passed(name: string, detail: string): Finding {
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

function checkNode({ host }: Session): Finding {
  const [major = 0, minor = 0] = host.nodeVersion.replace(/^v/, "").split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = MINIMUM_NODE.split(".").map(Number);
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return enough
    ? passed("node", host.nodeVersion)
    : failed("node", {
        code: "node_too_old",
        message: `${host.nodeVersion} is too old.`,
        exit: EXIT.usage,
        hint: `Node ${MINIMUM_NODE} or newer is needed.`,
      });
}

function checkConfig(session: Session): Finding {
  const path = getConfigPath(session.host);
  try {
    const { profiles } = readConfigFile(path);
    const settings = session.settings();
    if (isExposed(path, session.host.platform))
      return warning("config", `${path} can be read by other users of this machine.`, `chmod 600 ${path}`);
    const count = Object.keys(profiles).length;
    return passed("config", count === 0 ? `no profile stored (${path})` : `profile ${settings.profile} in ${path}`);
  } catch (error) {
    return failed("config", toFailure(error));
  }
}

async function checkServer(session: Session): Promise<Finding> {
  const { url } = session.settings();
  try {
    const from = session.host.now();
    const { data } = await session.send(buildCall(contract.health.live, [], {}, undefined));
    const version = (data as { version?: unknown }).version;
    return passed(
      "server",
      `${url} answered in ${session.host.now() - from} ms${typeof version === "string" ? `, version ${version}` : ""}`,
    );
  } catch (error) {
    return failed("server", toFailure(error, undefined, url));
  }
}

async function checkAccount(session: Session): Promise<Finding[]> {
  let me: Me;
  try {
    me = (await session.send(buildCall(contract.me.get, [], {}, undefined))).data as Me;
  } catch (error) {
    return [failed("key", toFailure(error)), skipped("mailer", "needs a valid key")];
  }
  const { workspace, key, server: about } = me;
  return [
    passed("key", `${key.name} (${key.preview}), workspace ${workspace.name}`),
    checkVersions(about.version, session.host.version),
    ...(await attempt("name", () => checkBrand(session))),
    ...(about.pausedAt ? [warning("sending", `all sending is paused since ${about.pausedAt}`, "Resume it: mailsvc queue resume")] : []),
    ...(about.unhandledJobs
      ? [
          warning(
            "jobs",
            `${about.unhandledJobs} ${about.unhandledJobs === 1 ? "job waits" : "jobs wait"}: the server does not know the kind`,
            "See them: mailsvc jobs list --state unhandled. A version that knows the kind runs them.",
          ),
        ]
      : []),
    checkMailer(about),
    ...(await attempt("ready", () => checkReadiness(session))),
    ...(await attempt("relay", () => checkRelays(session))),
    ...(await attempt("dns", () => checkRecords(session))),
  ];
}

/** The findings of a check; a failure under its name when it could not be made, so that it hides no other. */
async function attempt(name: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [failed(name, toFailure(error))];
  }
}

function checkMailer({ mailer, mailerFault, dev }: Me["server"]): Finding {
  if (mailerFault) return warning("mailer", mailerFault, "Correct the relay's settings or --smtp-url; delivery continues by itself.");
  if (mailer !== "capture") return passed("mailer", mailer);
  return dev
    ? passed("mailer", "capture (dev mode: mailsvc inbox list)")
    : warning("mailer", "capture: mail is stored and not sent", "Start the server with --smtp-url to send for real.");
}

/** A program works with servers of its own version and with later ones. */
function checkVersions(server: string, own: string): Finding {
  if (server === own) return passed("version", server);
  const hint = isNewer(server, own)
    ? "All of this program works. For what the server has besides, update this program."
    : "What is new in this program fails there. Update the server.";
  return warning("version", `the server is ${server}, this program is ${own}`, hint);
}

/** Checks the server's readiness: its SMTP ports, and the deletion of old mail. Throws the reason it is not ready. */
async function checkReadiness(session: Session): Promise<Finding[]> {
  const { data } = await session.send(buildCall(contract.health.ready, [], {}, undefined));
  const { smtp, inboundPeers, failingReaders = [] } = data as Output<MailsvcContract["health"]["ready"]>;
  // With several workspaces, only the operator key learns about the server.
  if (smtp === undefined) return [skipped("ready", "the server is ready; the operator key shows more")];
  return [checkSmtp(smtp), ...(inboundPeers ? checkPeers(inboundPeers) : []), ...failingReaders.map(warnOfReader)];
}

function checkSmtp(smtp: readonly SmtpPort[]): Finding {
  if (smtp.length === 0) return skipped("smtp", "takes no mail over SMTP; --smtp-port lets it");
  const full = smtp.find((one) => one.full);
  if (full) return warning("smtp", `port ${full.port} has all the connections it may have`, "End those that hang, or add a server.");
  return passed("smtp", `takes mail at ${smtp.map(({ port, tls }) => `port ${port}${TLS_WORDS[tls]}`).join(" and ")}`);
}

/** A warning while all mail that came in over SMTP came from private addresses: a gateway may have put its own in place of each peer's. */
function checkPeers({ public: ofInternet, private: ofNetwork }: { readonly public: number; readonly private: number }): Finding[] {
  if (ofInternet > 0 || ofNetwork < PRIVATE_PEERS) return [];
  return [
    warning(
      "inbound",
      `all ${ofNetwork} mails came from private addresses, so SPF could not be checked`,
      "If something in front of the port replaces addresses, let it use the PROXY protocol: --proxy-protocol ADDRESS",
    ),
  ];
}

function warnOfReader({
  reader,
  workspaceId,
  since,
  error,
}: {
  reader: string;
  workspaceId: string;
  since: string;
  error: string;
}): Finding {
  return warning(
    "readers",
    `${reader} of ${workspaceId} stands still since ${since}: ${error}`,
    "It is tried again every minute, and goes on where it stopped. Nothing is lost; report the error if it stays.",
  );
}

/** Connects to each relay and logs in, now. */
async function checkRelays(session: Session): Promise<Finding[]> {
  const answer = await session.send(buildCall(contract.me.checkRelays, [], {}, undefined));
  const { data } = answer.data as Output<MailsvcContract["me"]["checkRelays"]>;
  return data.map(({ name, ok, reason, ms }) =>
    ok
      ? passed("relay", `${name}: connected in ${ms} ms`)
      : failed("relay", {
          code: "relay_out_of_service",
          message: `${name}: ${reason ?? "out of service"}`,
          exit: EXIT.partial,
          hint: `The operator sees each step: mailsvc relays test ${name}`,
        }),
  );
}

/** A warning for each verified domain whose DNS record is missing, among the newest hundred; nothing for a key that may not read them. */
async function checkRecords(session: Session): Promise<Finding[]> {
  const page = { limit: 100 };
  const list = async (call: ReturnType<typeof buildCall>): Promise<readonly unknown[]> => {
    try {
      return ((await session.send(call)).data as { readonly data: readonly unknown[] }).data;
    } catch (error) {
      if (toFailure(error).code === "forbidden") return [];
      throw error;
    }
  };
  const senders = (await list(buildCall(contract.senders.list, [], { ...page, status: "VERIFIED" }, undefined))) as Sender[];
  const inbound = (await list(buildCall(contract.inboundDomains.list, [], page, undefined))) as InboundDomain[];
  return [
    ...senders.map(({ value, failingSince, lastError, id }) => ({ value, failingSince, lastError, see: `mailsvc senders get ${id}` })),
    ...inbound.map(({ domain: value, failingSince, lastError, id }) => ({
      value,
      failingSince,
      lastError,
      see: `mailsvc inbound-domains get ${id}`,
    })),
  ].flatMap(({ value, failingSince, lastError, see }) =>
    failingSince === null
      ? []
      : [
          warning(
            "dns",
            `${value}: a DNS record is missing since ${failingSince}. ${lastError ?? ""}`.trimEnd(),
            `Publish it again: ${see}`,
          ),
        ],
  );
}

/** A warning while the first workspace has no name; nothing for a key that may not read the brand. */
async function checkBrand(session: Session): Promise<Finding[]> {
  return (await lacksName(session)) ? [warning("name", "mail and pages name no sender", `Name it: ${NAME_BRAND}`)] : [];
}

/** Names operations that will be gone; nothing when there are none. */
export function checkEnds(operations: Contract): Finding[] {
  const ending = Object.entries(operations).flatMap(([noun, verbs]) =>
    Object.entries(verbs).flatMap(([verb, { deprecated }]) =>
      deprecated === undefined ? [] : [{ name: `${noun}.${verb}`, ...deprecated }],
    ),
  );
  const [next] = ending.toSorted((a, b) => a.sunset.localeCompare(b.sunset));
  if (next === undefined) return [];
  const others = ending.length > 1 ? `, and ${ending.length - 1} more later` : "";
  return [warning("api", `${next.name} is gone from ${next.sunset}${others}`, next.instead)];
}

async function diagnose(session: Session): Promise<Finding[]> {
  const first = [checkNode(session), checkConfig(session)];
  if (first[1]?.check.status === "fail")
    return [...first, skipped("server", "needs a readable config"), skipped("key", "needs a readable config")];
  const reached = await checkServer(session);
  if (reached.check.status === "fail") return [...first, reached, skipped("key", "needs a server"), skipped("mailer", "needs a server")];
  return [...first, reached, ...(await checkAccount(session)), ...checkEnds(contract)];
}

function render(checks: readonly Check[], { term: { out } }: Session): string {
  return checks
    .map(
      (c) =>
        `${paintStatus(out, c.status)}${" ".repeat(7 - c.status.length)} ${out.bold(c.name.padEnd(8))} ${safeText(c.detail)}${c.hint && c.status !== "ok" ? `\n${" ".repeat(17)}${out.dim(safeText(c.hint))}` : ""}`,
    )
    .join("\n");
}
