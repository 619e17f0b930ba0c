import { type Contract, contract, type Endpoint, paramNames, requiredGrant } from "@mailsvc/sdk/contract";

/** An endpoint of the contract with its name, such as `emails.list`. */
export interface Operation {
  readonly id: string;
  readonly endpoint: Endpoint;
}

/** Every operation of developers' keys, sorted by its id. */
export function listOperations(): Operation[] {
  const nouns = Object.entries(contract as Contract);
  return nouns
    .flatMap(([noun, verbs]) => Object.entries(verbs).map(([verb, endpoint]) => ({ id: `${noun}.${verb}`, endpoint })))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** True if an operation changes something. A POST that only needs permission to read, such as a preview, does not. */
export function isWrite({ method, access }: Endpoint): boolean {
  return method !== "GET" && !(requiredGrant(access)?.endsWith(":read") ?? false);
}

/** True if the server keeps the answer to a write by its Idempotency-Key. The key belongs to an API key, which /__dev does not need. */
export function takesIdempotencyKey(endpoint: Endpoint): boolean {
  return isWrite(endpoint) && endpoint.access !== "dev";
}

/**
 * True if a write without an Idempotency-Key gets one derived from its arguments: writes that send mail on each call. Other
 * writes may be repeated on purpose, as when a campaign is paused, resumed and paused again; a campaign that was sent already
 * refuses to be sent again.
 */
export function hasDefaultKey(endpoint: Endpoint): boolean {
  return takesIdempotencyKey(endpoint) && endpoint.bucket === "send" && endpoint.mailsTo !== "audience";
}

/** The command that does the same, for a person to run: `mailsvc campaigns send <id>`. */
export function describeCommand({ id, endpoint }: Operation): string {
  const words = COMMANDS[id] ?? id.split(".").map(toKebabCase).join(" ");
  return ["mailsvc", words, ...paramNames(endpoint.path).map((name) => `<${toKebabCase(name)}>`)].join(" ");
}

/** Commands with other words than their operation. */
const COMMANDS: Readonly<Record<string, string>> = {
  "emails.send": "send",
  "emails.sendBatch": "emails batch",
  "emails.sendTemplate": "send --template",
  "templates.send": "send --template",
};

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
