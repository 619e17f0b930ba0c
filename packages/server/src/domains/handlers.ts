import { isIP } from "node:net";
import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { invalid } from "../lib/api-error.ts";
import type { DomainDeps } from "./deps.ts";
import { checkDomain } from "./domains.ts";

export const domainHandlers: Handlers<typeof contract.domains, DomainDeps> = {
  check: (input, { read, deps, workspaceId }) => {
    if (input.ip !== undefined && isIP(input.ip) === 0) throw invalid("ip", "invalid_address", `${input.ip} is not an IP address.`);
    return checkDomain(read, deps, workspaceId, input);
  },
};
