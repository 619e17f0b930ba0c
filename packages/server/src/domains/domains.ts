import { isIP } from "node:net";
import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { invalid } from "../lib/api-error.ts";
import type { DomainDeps } from "./check-domain.ts";

export type { DomainDeps } from "./check-domain.ts";

type Checks = typeof import("./check-domain.ts");

/** Loads the checks when they are first asked for: a start does without them. */
const loadChecks = (): Promise<Checks> => import("./check-domain.ts");

export const domainHandlers: Handlers<typeof contract.domains, DomainDeps> = {
  check: async (input, { read, deps, workspaceId }) => {
    if (input.ip !== undefined && isIP(input.ip) === 0) throw invalid("ip", "invalid_address", `${input.ip} is not an IP address.`);
    return (await loadChecks()).checkDomain(read, deps, workspaceId, input);
  },
};

/** The records of the keys that sign mail of a domain. With `look` name servers are asked for them, for twelve seconds at most. */
export const loadDkimRecords: Checks["loadDkimRecords"] = async (...request) => (await loadChecks()).loadDkimRecords(...request);
