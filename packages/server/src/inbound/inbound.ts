export { setBounceAddresses } from "./bounce-address.ts";
export { SnsClient } from "./providers/sns.ts";
export { createReturnPath, type ReturnPath } from "./return-path.ts";
export { type InboundServer, serveInboundSmtp } from "./smtp-server.ts";
export { suppressSoftBounces } from "./soft-bounces.ts";
