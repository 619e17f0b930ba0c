export { MailAuthenticator } from "./authentication/mail-authenticator.ts";
export { setBounceAddresses } from "./bounce-address.ts";
export { MailParser } from "./mail-parser.ts";
export { SnsClient } from "./providers/sns.ts";
export { createReturnPath, type ReturnPath } from "./return-path.ts";
export { answerSimulated, type MailToAnswer, simulateReply, simulateReport } from "./simulate.ts";
export { serveInboundSmtp } from "./smtp-server.ts";
export { suppressSoftBounces } from "./soft-bounces.ts";
