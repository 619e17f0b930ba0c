import { contract } from "@mailsvc/sdk/contract";
import { hasStatus } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";

/** The command that gives a workspace the name that customers see. */
export const NAME_BRAND = 'mailsvc brand update --name "Acme"';

// The name of the first workspace before it is renamed.
const UNNAMED = "default";

/** True if footers and pages have no name to show. False when the key may not read the brand. */
export async function lacksName(session: Session): Promise<boolean> {
  try {
    const { data } = await session.send(buildCall(contract.brand.get, [], {}, undefined));
    return (data as { name?: unknown }).name === UNNAMED;
  } catch (error) {
    if (hasStatus(error, 403) || hasStatus(error, 404)) return false;
    throw error;
  }
}
