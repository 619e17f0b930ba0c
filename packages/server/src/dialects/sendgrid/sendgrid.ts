import type { ContractCalls } from "../../http/contract-calls.ts";
import type { Dialect } from "../../http/dialect.ts";
import type { DialectDeps } from "../deps.ts";
import { adviseForeignKey, lookUpForeignKeys } from "../foreign-keys.ts";
import { type AbsentOperation, buildRoutes, type Operation } from "../operation.ts";
import { renameFields } from "../rename-fields.ts";
import { describeError } from "./errors.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { sendMail } from "./mail-send.ts";

const PREFIX = "/sendgrid";

/** Supported operations of SendGrid's API. */
const SENDGRID_OPERATIONS: readonly Operation[] = [sendMail];

/** Operations of SendGrid's API that are not here, of those that its official packages call. */
const ABSENT: readonly AbsentOperation[] = [
  { method: "POST", path: "/v3/mail/batch", instead: "Different mails in one call: mailsvc emails batch FILE." },
  { method: "GET", path: "/v3/templates", instead: "Templates: mailsvc templates list." },
  { method: "GET", path: "/v3/suppression/bounces", instead: "Bounced addresses: mailsvc suppressions list --reason bounce." },
  { method: "GET", path: "/v3/stats", instead: "Statistics of a campaign: mailsvc campaigns stats ID." },
  { method: "GET", path: "/v3/marketing/contacts", instead: "Contacts: mailsvc contacts list." },
  { method: "PUT", path: "/v3/marketing/contacts", instead: "Many contacts at once: mailsvc contacts import FILE." },
  { method: "GET", path: "/v3/marketing/lists", instead: "Lists: mailsvc lists list." },
  { method: "GET", path: "/v3/api_keys", instead: "Keys: mailsvc keys list." },
  { method: "GET", path: "/v3/scopes", instead: "What a key may do: mailsvc whoami." },
];

/** SendGrid's API for sending: a program of SendGrid's runs with its client's baseUrl set to this server. */
export function createSendgrid(deps: DialectDeps, contract: ContractCalls, devKey: string | null): Dialect {
  return {
    prefix: PREFIX,
    lookUpKeys: (keys) => lookUpForeignKeys(keys, (key) => key.startsWith("SG."), devKey),
    describeError: (error) => describeError(adviseForeignKey(error, "SG.…", devKey)),
    operations: buildRoutes(PREFIX, SENDGRID_OPERATIONS, ABSENT, deps, renameFields(contract, FIELD_NAMES)),
  };
}
