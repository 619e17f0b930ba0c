import { isForAgents, parseMailbox } from "@mailsvc/sdk/contract";
import type { Failure } from "./errors.ts";
import { argumentsOf, type Placed, paramsIn, placed } from "./places.ts";
import { type Call, quote } from "./request.ts";

/** Sharpens a failure's advice by what was being done: the sender to verify, the list to look into. */
export function advise(failure: Failure, place: Placed | undefined, call: Call | undefined): Failure {
  const agents = place && isForAgents(place.endpoint.access) ? forAgents(failure, place) : undefined;
  if (agents) return agents;
  if (failure.code === "sender_not_verified") {
    const address = addressOf(call);
    return address ? { ...failure, next: `mailsvc senders create --email ${quote(address)}` } : failure;
  }
  if (failure.code === "not_found" && place) {
    // Nothing was named, so nothing was named wrongly: a wait that ended, say.
    if (!place.endpoint.path.includes(":")) return { ...failure, hint: undefined, next: undefined };
    const [noun] = place.words;
    // Of a list below an activation or a listing it is that which was named wrongly.
    const owner = /\/marketplace\/(activations|listings)\/:\w+\//.exec(place.endpoint.path)?.[1];
    return place.words.length === 2 ? { ...failure, next: `mailsvc ${owner ?? noun} list` } : failure;
  }
  // Yes and no are none of its options; those stand in the message.
  if (failure.code === "validation_error" && place?.id === "messages.answer" && place.fixed) {
    const { id = "<id>" } = paramsIn(place.endpoint, call);
    return { ...failure, hint: undefined, next: `mailsvc messages answer ${quote(id)} <decision>` };
  }
  if (failure.code === "conflict" && place?.id === "activations.create") {
    const on = failure.details?.find(({ path }) => path === "agentSlug")?.message;
    return {
      ...failure,
      details: [],
      hint: undefined,
      next: on?.startsWith("act_") ? `mailsvc activations get ${on}` : "mailsvc activations list",
    };
  }
  if ((failure.code === "invalid_state" || failure.code === "conflict") && place) {
    const next = lookAgain(place, call);
    return next === undefined ? failure : { ...failure, hint: undefined, next };
  }
  if (failure.code === "validation_error" && place && !failure.next) return { ...failure, next: `mailsvc ${place.words.join(" ")} --help` };
  return failure;
}

function addressOf(call: Call | undefined): string | undefined {
  const from = (call?.body as { from?: unknown } | undefined)?.from;
  try {
    return typeof from === "string" ? parseMailbox(from).address : undefined;
  } catch {
    return undefined;
  }
}

/** The command that shows what a call was about: `mailsvc messages get msg_…` after `mailsvc approvals reject msg_…`. */
function lookAgain(place: Placed, call: Call | undefined): string | undefined {
  const group = place.id.split(".").slice(0, -1).join(".");
  const shown = placed().find(({ id }) => id === `${group}.get`);
  if (!shown) return undefined;
  const known: Readonly<Record<string, unknown>> = { ...(call?.body as object | undefined), ...paramsIn(place.endpoint, call) };
  const ids = argumentsOf(shown.endpoint).map((name) => known[name]);
  return ids.length > 0 && ids.every((id): id is string => typeof id === "string")
    ? ["mailsvc", ...shown.words, ...ids.map(quote)].join(" ")
    : undefined;
}

// What an agent's key is told is written for its program; at a prompt there is a builder, or a brand that tries it out.
function forAgents(failure: Failure, place: Placed): Failure | undefined {
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
        next: `mailsvc ${place.words.slice(0, 2).join(" ")} --help`,
      };
    default:
      return undefined;
  }
}
