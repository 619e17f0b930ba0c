import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import type { ContractCalls } from "../../http/contract-calls.ts";
import type { Dialect, DialectAnswer } from "../../http/dialect.ts";
import type { ApiError } from "../../lib/api-error.ts";
import type { DialectDeps } from "../deps.ts";
import { adviseForeignKey, lookUpForeignKeys } from "../foreign-keys.ts";
import { type AbsentOperation, buildRoutes, type Operation } from "../operation.ts";
import { type FieldNames, renameFields } from "../rename-fields.ts";
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

/** An error as SendGrid answers it: one entry for each fault, with its field as a path such as `personalizations.0.to`. */
function describeError({ code, status, message, details, hint }: ApiError): DialectAnswer {
  const faults = details.length > 0 ? details : [{ path: "", message }];
  const help = code === "validation_error" ? null : hint;
  return {
    status,
    body: {
      errors: faults.map((fault) => ({ message: toField(fault.message), field: fault.path === "" ? null : toField(fault.path), help })),
    },
  };
}

/** A path with the places in lists as SendGrid writes them. */
function toField(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, ".$1");
}

const MAIL: FieldNames = {
  replyTo: "reply_to",
  scheduledAt: "send_at",
  html: "content",
  text: "content",
  icalEvent: "content",
  tags: "categories",
};

/** The fields that SendGrid calls otherwise. */
const FIELD_NAMES: ReadonlyMap<Endpoint, FieldNames> = new Map<Endpoint, FieldNames>([
  [
    contract.emails.sendBatch,
    { emails: "personalizations", ...MAIL, ...Object.fromEntries(Object.entries(MAIL).map(([name, own]) => [`emails.${name}`, own])) },
  ],
]);
