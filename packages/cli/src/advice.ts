import { isForAgents, parseMailbox } from "@mailsvc/sdk/contract";
import type { Failure } from "./errors.ts";
import type { Placed } from "./places.ts";
import { type Call, quote } from "./request.ts";

const addressOf = (call: Call | undefined): string | undefined => {
  const from = (call?.body as { from?: unknown } | undefined)?.from;
  try {
    return typeof from === "string" ? parseMailbox(from).address : undefined;
  } catch {
    return undefined;
  }
};

/** Sharpens a failure's advice by what was being done: the sender to verify, the list to look into. */
export const advise = (failure: Failure, place: Placed | undefined, call: Call | undefined): Failure => {
  if (failure.code === "sender_not_verified") {
    const address = addressOf(call);
    return address ? { ...failure, next: `mailsvc senders create --email ${quote(address)}` } : failure;
  }
  if (failure.code === "not_found" && place) {
    // Nothing was named, so nothing was named wrongly: a wait that ended, say.
    if (!place.endpoint.path.includes(":")) return { ...failure, hint: undefined, next: undefined };
    if (isForAgents(place.endpoint.access))
      return {
        ...failure,
        hint: "Check the id; it may belong to another activation.",
        next: `mailsvc ${place.words.slice(0, 2).join(" ")} --help`,
      };
    const [noun] = place.words;
    // Of a list below an activation or a listing it is that which was named wrongly.
    const owner = /\/marketplace\/(activations|listings)\/:\w+\//.exec(place.endpoint.path)?.[1];
    return place.words.length === 2 ? { ...failure, next: `mailsvc ${owner ?? noun} list` } : failure;
  }
  if (failure.code === "forbidden" && place && isForAgents(place.endpoint.access))
    return {
      ...failure,
      hint: "An agent may do what its brand agreed to: its listing asks for more with --permission, and counts when it is turned on anew.",
      next: "mailsvc agent whoami",
    };
  if (failure.code === "validation_error" && place && !failure.next) return { ...failure, next: `mailsvc ${place.words.join(" ")} --help` };
  return failure;
};
