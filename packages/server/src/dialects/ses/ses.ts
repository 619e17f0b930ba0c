import type { ContractCalls } from "../../http/contract-calls.ts";
import type { Dialect } from "../../http/dialect.ts";
import type { DialectDeps } from "../deps.ts";
import { lookUpForeignKeys } from "../foreign-keys.ts";
import { type AbsentOperation, buildRoutes, type Operation } from "../operation.ts";
import { renameFields } from "../rename-fields.ts";
import { getAccount } from "./account.ts";
import { sendBulkEmail } from "./bulk.ts";
import { sendEmail } from "./emails.ts";
import { describeError } from "./errors.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { readKeyId } from "./key.ts";
import { suppressionOperations } from "./suppressions.ts";
import { templateOperations } from "./templates.ts";

const PREFIX = "/ses";

/** Supported operations of the API of SES, version 2. */
const SES_OPERATIONS: readonly Operation[] = [sendEmail, sendBulkEmail, ...templateOperations, ...suppressionOperations, getAccount];

const SENDERS = "Senders: mailsvc senders create, mailsvc senders verify ID.";
const LISTS = "Lists: mailsvc lists list, mailsvc contacts import FILE.";
const SETS = "Events go to webhooks: mailsvc webhooks create.";

/** Operations of SES that are not here, of those that its programs call most. */
const ABSENT: readonly AbsentOperation[] = [
  { method: "POST", path: "/v2/email/identities", instead: SENDERS },
  { method: "GET", path: "/v2/email/identities", instead: SENDERS },
  { method: "GET", path: "/v2/email/identities/:identity", instead: SENDERS },
  { method: "DELETE", path: "/v2/email/identities/:identity", instead: SENDERS },
  { method: "POST", path: "/v2/email/configuration-sets", instead: SETS },
  { method: "GET", path: "/v2/email/configuration-sets", instead: SETS },
  { method: "GET", path: "/v2/email/configuration-sets/:set", instead: SETS },
  { method: "POST", path: "/v2/email/configuration-sets/:set/event-destinations", instead: SETS },
  { method: "POST", path: "/v2/email/contact-lists", instead: LISTS },
  { method: "GET", path: "/v2/email/contact-lists", instead: LISTS },
  { method: "POST", path: "/v2/email/contact-lists/:list/contacts", instead: LISTS },
  { method: "POST", path: "/v2/email/contact-lists/:list/contacts/list", instead: LISTS },
  { method: "POST", path: "/v2/email/import-jobs", instead: "Suppressed addresses at once: mailsvc suppressions import FILE." },
  { method: "POST", path: "/v2/email/metrics/batch", instead: "Numbers of all mail: mailsvc metrics get." },
  { method: "GET", path: "/v2/email/insights/:id", instead: "The history of a mail: mailsvc why ID." },
  { method: "GET", path: "/v2/email/dedicated-ips", instead: "The way that mail takes: mailsvc relays list." },
];

/** The API of SES, version 2: a program of AWS's SDK runs with its endpoint set to this server. */
export function createSes(deps: DialectDeps, contract: ContractCalls, devKey: string | null): Dialect {
  return {
    prefix: PREFIX,
    lookUpKeys: (keys) => ({ ...lookUpForeignKeys(keys, (key) => !key.startsWith("ms_"), devKey), readKey: readKeyId }),
    describeError,
    operations: buildRoutes(PREFIX, SES_OPERATIONS, ABSENT, deps, renameFields(contract, FIELD_NAMES)),
  };
}
