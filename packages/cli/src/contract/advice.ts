import { DEV_ONLY, ERRORS, type ErrorCode, isForAgents, parseMailbox } from "@mailsvc/sdk/contract";
import { NO_SUCH_PATH } from "../runtime/errors.ts";
import { parsePathParams, shellQuote } from "../runtime/request.ts";
import type { Call, CommandSpec, Failure } from "../types.ts";
import { listCommandSpecs, listPathArguments } from "./command-map.ts";

/** Makes a failure's hint specific to the command: the sender to verify, the list to look in. */
export function advise(failure: Failure, spec: CommandSpec | undefined, call: Call | undefined): Failure {
  if (failure.message === NO_SUCH_PATH) return failure;
  const agents = spec && isForAgents(spec.endpoint.access) ? adviseAgent(failure, spec) : undefined;
  if (agents) return agents;
  if (failure.code === "dev_only") {
    const missing = Object.values(DEV_ONLY).find(({ message }) => message === failure.message);
    return missing ? { ...failure, next: missing.next } : failure;
  }
  if (failure.code === "sender_not_verified") {
    const address = findSenderAddress(call);
    return address ? { ...failure, next: `mailsvc senders create --email ${shellQuote(address)}` } : failure;
  }
  if (failure.code === "not_found" && spec) {
    // The command names no object, so no id can be wrong; for example a wait that timed out.
    if (!spec.endpoint.path.includes(":")) return { ...failure, hint: undefined, next: undefined };
    const [noun] = spec.words;
    // Captured mail has ids only, and its address is what people know.
    const { id = "" } = parsePathParams(spec.endpoint, call);
    if (noun === "inbox" && id.includes("@"))
      return { ...failure, hint: "Captured mail is named by its id.", next: `mailsvc inbox list --to ${shellQuote(id)}` };
    // A list below an activation or a listing: the wrong id is that of the activation or listing.
    const owner = /\/marketplace\/(activations|listings)\/:\w+\//.exec(spec.endpoint.path)?.[1];
    // The server's hint about this case may name a command already.
    if (failure.hint?.includes("mailsvc ")) return failure;
    const missing = findListOf(failure.message);
    if (missing !== undefined) return { ...failure, next: missing };
    return spec.words.length === 2 ? { ...failure, next: `mailsvc ${owner ?? noun} list` } : failure;
  }
  // The question has its own options, and the message lists them.
  if (failure.code === "validation_error" && spec?.id === "messages.answer" && spec.fixed) {
    const { id = "<id>" } = parsePathParams(spec.endpoint, call);
    return { ...failure, hint: undefined, next: `mailsvc messages answer ${shellQuote(id)} <decision>` };
  }
  if (failure.code === "already_active" && spec?.id === "activations.create") {
    const on = failure.details?.find(({ path }) => path === "agentSlug")?.message;
    return {
      ...failure,
      details: [],
      hint: undefined,
      next: on?.startsWith("act_") ? `mailsvc activations get ${on}` : "mailsvc activations list",
    };
  }
  if (["invalid_state", "conflict", "id_reused", "limit_reached", "already_refunded"].includes(failure.code ?? "") && spec) {
    // The server's hint about this case is better than the advice to look at the object.
    if (failure.hint !== undefined && failure.hint !== ERRORS[failure.code as ErrorCode].hint) return failure;
    const next = buildGetCommand(spec, call);
    return next === undefined ? failure : { ...failure, hint: undefined, next };
  }
  if (failure.code === "validation_error" && spec && !failure.next) return { ...failure, next: `mailsvc ${spec.words.join(" ")} --help` };
  return failure;
}

/** The command that lists what a server says there is none of: `mailsvc contacts list` for `There is no contact "con_…" in this workspace.` */
function findListOf(message: string): string | undefined {
  const [, what] = /^There is no ([a-z][a-z ]*?) (?:"|\S*[@_])/.exec(message) ?? [];
  if (what === undefined) return;
  const word = what.replaceAll(" ", "-");
  const nouns = [`${word}s`, word.replace(/y$/, "ies"), word];
  const listed = listCommandSpecs().find(
    ({ words, hidden }) => !hidden && words.length === 2 && words[1] === "list" && nouns.includes(words[0] ?? ""),
  );
  return listed && `mailsvc ${listed.words.join(" ")}`;
}

function findSenderAddress(call: Call | undefined): string | null {
  const from = (call?.body as { from?: unknown } | undefined)?.from;
  try {
    return typeof from === "string" ? parseMailbox(from).address : null;
  } catch {
    return null;
  }
}

/** The command that shows the object of a call: `mailsvc messages get msg_…` after `mailsvc approvals reject msg_…`. */
function buildGetCommand(spec: CommandSpec, call: Call | undefined): string | undefined {
  const group = spec.id.split(".").slice(0, -1).join(".");
  const shown = listCommandSpecs().find(({ id }) => id === `${group}.get`);
  if (!shown) return undefined;
  const known: Readonly<Record<string, unknown>> = { ...(call?.body as object | undefined), ...parsePathParams(spec.endpoint, call) };
  const ids = listPathArguments(shown.endpoint).map((name) => known[name]);
  return ids.length > 0 && ids.every((id): id is string => typeof id === "string")
    ? ["mailsvc", ...shown.words, ...ids.map(shellQuote)].join(" ")
    : undefined;
}

// Errors for an agent's key address the agent's program; on the command line a builder or a brand reads them.
function adviseAgent(failure: Failure, spec: CommandSpec): Failure | undefined {
  switch (failure.code) {
    case "forbidden":
      return {
        ...failure,
        hint: "An agent has only the permissions its brand accepted. Add a --permission to its listing; it applies to new activations.",
        next: "mailsvc agent whoami",
      };
    case "key_revoked":
      return {
        ...failure,
        hint: "This key is revoked for good. A new activation sends a new key with agent.activated.",
        next: "mailsvc activations create <slug>",
      };
    case "unauthorized":
      return {
        ...failure,
        hint: "The key is sent once, with the event agent.activated. Set MAILSVC_AGENT_KEY or use --api-key ms_agent_…",
        next: undefined,
      };
    case "activation_paused":
      return {
        ...failure,
        hint: "The same key works again after the activation is resumed.",
        next: failure.message.includes("webhook_failure")
          ? "mailsvc listings activations <slug> (its builder sees why)"
          : "mailsvc activations list (its brand resumes it)",
      };
    case "not_found":
      return {
        ...failure,
        hint: "Check the id; it may belong to another activation.",
        next: `mailsvc ${spec.words.slice(0, 2).join(" ")} --help`,
      };
    default:
      return undefined;
  }
}
