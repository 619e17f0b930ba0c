import { isForAgents, parseMailbox } from "@mailsvc/sdk/contract";
import { shellQuote } from "../runtime/request.ts";
import type { Call, CommandSpec, Failure } from "../types.ts";
import { listCommandSpecs, listPathArguments, parsePathParams } from "./command-map.ts";

/** Sharpens a failure's advice by what was being done: the sender to verify, the list to look into. */
export function advise(failure: Failure, spec: CommandSpec | undefined, call: Call | undefined): Failure {
  const agents = spec && isForAgents(spec.endpoint.access) ? adviseAgent(failure, spec) : undefined;
  if (agents) return agents;
  if (failure.code === "sender_not_verified") {
    const address = findSenderAddress(call);
    return address ? { ...failure, next: `mailsvc senders create --email ${shellQuote(address)}` } : failure;
  }
  if (failure.code === "not_found" && spec) {
    // Nothing was named, so nothing was named wrongly: a wait that ended, say.
    if (!spec.endpoint.path.includes(":")) return { ...failure, hint: undefined, next: undefined };
    const [noun] = spec.words;
    // Of a list below an activation or a listing it is that which was named wrongly.
    const owner = /\/marketplace\/(activations|listings)\/:\w+\//.exec(spec.endpoint.path)?.[1];
    return spec.words.length === 2 ? { ...failure, next: `mailsvc ${owner ?? noun} list` } : failure;
  }
  // Yes and no are none of its options; those stand in the message.
  if (failure.code === "validation_error" && spec?.id === "messages.answer" && spec.fixed) {
    const { id = "<id>" } = parsePathParams(spec.endpoint, call);
    return { ...failure, hint: undefined, next: `mailsvc messages answer ${shellQuote(id)} <decision>` };
  }
  if (failure.code === "conflict" && spec?.id === "activations.create") {
    const on = failure.details?.find(({ path }) => path === "agentSlug")?.message;
    return {
      ...failure,
      details: [],
      hint: undefined,
      next: on?.startsWith("act_") ? `mailsvc activations get ${on}` : "mailsvc activations list",
    };
  }
  if ((failure.code === "invalid_state" || failure.code === "conflict") && spec) {
    const next = buildGetCommand(spec, call);
    return next === undefined ? failure : { ...failure, hint: undefined, next };
  }
  if (failure.code === "validation_error" && spec && !failure.next) return { ...failure, next: `mailsvc ${spec.words.join(" ")} --help` };
  return failure;
}

function findSenderAddress(call: Call | undefined): string | undefined {
  const from = (call?.body as { from?: unknown } | undefined)?.from;
  try {
    return typeof from === "string" ? parseMailbox(from).address : undefined;
  } catch {
    return undefined;
  }
}

/** The command that shows what a call was about: `mailsvc messages get msg_…` after `mailsvc approvals reject msg_…`. */
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

// What an agent's key is told is written for its program; at a prompt there is a builder, or a brand that tries it out.
function adviseAgent(failure: Failure, spec: CommandSpec): Failure | undefined {
  switch (failure.code) {
    case "forbidden":
      return {
        ...failure,
        hint: "An agent may do what its brand agreed to: its listing asks for more with --permission, and counts when it is turned on anew.",
        next: "mailsvc agent whoami",
      };
    case "key_revoked":
      return {
        ...failure,
        hint: "This key never works again. Turned on anew, the agent gets another with agent.activated.",
        next: "mailsvc activations create <slug>",
      };
    case "unauthorized":
      return {
        ...failure,
        hint: "The key came once, with the event agent.activated. Set MAILSVC_AGENT_KEY or give --api-key ms_agent_…",
        next: undefined,
      };
    case "activation_paused":
      return {
        ...failure,
        hint: "The same key works again when the pause is over.",
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
