import { createHash } from "node:crypto";
import type { InputRequiredResult, RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { acceptedContent, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import * as z from "zod";
import { toCanonicalJson } from "./api.ts";
import { describeCommand, type Operation } from "./operations.ts";
import { type Reach, toCount } from "./reach.ts";
import { ToolError } from "./tool-error.ts";

/** Confirmation by a person: this call, with this number of people. It goes through the client, sealed. */
export interface Asked {
  readonly call: string;
}

/** A person has to be asked before the call goes on. The client asks, and repeats the call with the answer. */
export class Unconfirmed extends Error {
  override name = "Unconfirmed";
  readonly question: InputRequiredResult;

  constructor(question: InputRequiredResult) {
    super("A person has to confirm this.");
    this.question = question;
  }
}

const KEY = "confirm";
const Answer = z.object({ confirm: z.boolean().meta({ title: "Do it", description: "Only then it is done" }) });

interface ConfirmationParts {
  readonly context: ServerContext;
  readonly codec: RequestStateCodec<Asked>;
  /** True if the client can show a question to a person. */
  readonly canAsk: boolean;
}

/** Lets a person confirm the writes of one request. */
export class Confirmation {
  readonly #parts: ConfirmationParts;

  constructor(parts: ConfirmationParts) {
    this.#parts = parts;
  }

  /**
   * Returns if a person has confirmed this write. Throws Unconfirmed if nobody was asked yet, also when the call or the number of people
   * is another than the one confirmed; ToolError when the person declined or cannot be asked.
   */
  async assert(operation: Operation, input: Readonly<Record<string, unknown>>, reach: Reach | null): Promise<void> {
    const { context, codec, canAsk } = this.#parts;
    if (!canAsk)
      throw new ToolError(
        `${describe(operation, reach)} needs the confirmation of a person, and this client cannot ask one (it lacks elicitation).`,
        `Ask the user to run: ${describeCommand(operation)}`,
      );
    const call = digest(operation, input, reach);
    const { inputResponses } = context.mcpReq;
    if (context.mcpReq.requestState<Asked | undefined>()?.call === call) {
      if (acceptedContent(inputResponses, KEY, Answer)?.confirm === true) return;
      if (inputResponse(inputResponses, KEY).kind !== "missing")
        throw new ToolError("The user declined. Nothing was done.", "Do not try again unless the user asks for it.");
    }
    const question = { message: toQuestion(operation, input, reach), requestedSchema: Answer };
    throw new Unconfirmed(
      inputRequired({ inputRequests: { [KEY]: inputRequired.elicit(question) }, requestState: await codec.mint({ call }, context) }),
    );
  }
}

function digest({ id }: Operation, input: Readonly<Record<string, unknown>>, reach: Reach | null): string {
  return createHash("sha256")
    .update(toCanonicalJson({ id, input, people: reach?.people, addresses: reach?.addresses }))
    .digest("base64url");
}

function describe({ id }: Operation, reach: Reach | null): string {
  if (reach === null) return id;
  return reach.people === null || reach.isPossible ? `${id}, which may send mail,` : `Sending ${reach.what} to ${toCount(reach.people)}`;
}

// The person sees the whole of a short call, and the beginning of a long one.
const MAX_SHOWN = 600;
const SHOWN_ADDRESSES = 10;

function toQuestion({ id, endpoint }: Operation, input: Readonly<Record<string, unknown>>, reach: Reach | null): string {
  if (reach !== null && reach.people !== null && !reach.isPossible) {
    const { what, people, addresses } = reach;
    const named =
      addresses === null ? "" : `: ${addresses.slice(0, SHOWN_ADDRESSES).join(", ")}${addresses.length > SHOWN_ADDRESSES ? ", …" : ""}`;
    return `Send ${what}, to ${toCount(people)}${named}? (${endpoint.summary}.)`;
  }
  const json = toCanonicalJson(input);
  const shown = json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN)}…` : json;
  return `${endpoint.summary}? ${toWarning(reach)}(${id} with ${shown})`;
}

function toWarning(reach: Reach | null): string {
  if (reach === null) return "";
  if (reach.people === null) return "This may send mail to people; how many is not known before. ";
  return `This may send mail to ${reach.people === 1 ? "one person" : toCount(reach.people)}. `;
}
