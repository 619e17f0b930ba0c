import { isForAgents, requiredGrant } from "@mailsvc/sdk/contract";
import { describeCommand, isWrite, type Operation } from "./operations.ts";
import type { McpSettings } from "./settings.ts";

/** Subjects of permissions that no tool reaches: keys, money, and the data of people as a whole. */
const NEVER: ReadonlySet<string> = new Set(["keys", "billing", "people"]);

/** Operations that spend or earn money under another permission. */
const MONEY: ReadonlySet<string> = new Set(["listings.checkout", "listings.cancel", "activations.create", "activations.deactivate"]);

/** Returns the reason no tool offers an operation; null if one does. */
export function findRefusal(operation: Operation, { dev, writes, writesFlag }: McpSettings): string | null {
  const { id, endpoint } = operation;
  const { access } = endpoint;
  const instead = `A person can run: ${describeCommand(operation)}`;
  if (access === "public" || access === "operator" || isForAgents(access)) return `${id} is not for developers' keys.`;
  if (access === "dev" && !dev) return `${id} exists in dev mode only.`;
  if (NEVER.has(requiredGrant(access)?.split(":")[0] ?? "") || MONEY.has(id))
    return `Tools reach neither keys nor money nor the erasure of people, whatever the key may do. ${instead}`;
  if (endpoint.confidential) return `${id} answers with a secret, which a conversation must not hold. ${instead}`;
  if (endpoint.raw || endpoint.form || endpoint.stream || endpoint.produces) return `${id} is no call with JSON on both sides. ${instead}`;
  if (!isWrite(endpoint) || dev) return null;
  if (endpoint.method === "DELETE" || (endpoint.irreversible && endpoint.tool === undefined))
    return `${id} cannot be undone, so tools offer it in dev mode only. ${instead}`;
  return writes ? null : `This server is read-only for MCP clients. ${writesFlag} allows writes. ${instead}`;
}
