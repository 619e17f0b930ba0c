import { contract, type Endpoint } from "@mailsvc/sdk/contract";
import type { ContractCalls } from "../../http/contract-calls.ts";
import type { Dialect } from "../../http/dialect.ts";
import type { HeaderReader } from "../../http/headers.ts";
import { DAY } from "../../lib/units.ts";
import type { DialectDeps } from "../deps.ts";
import { lookUpForeignKeys } from "../foreign-keys.ts";
import { type AbsentOperation, buildRoutes, type Operation, readOperation } from "../operation.ts";
import { type FieldNames, renameFields } from "../rename-fields.ts";
import { sendBulkEmail, sendEmail } from "./emails.ts";
import { describeError } from "./errors.ts";
import { suppressionOperations } from "./suppressions.ts";
import { templateOperations } from "./templates.ts";

const PREFIX = "/ses";

/** `GetAccount`: the rate at which this key may send, and how much was sent in the last day. */
const getAccount: Operation = readOperation({
  path: "/v2/email/account",
  note: "SentLast24Hours counts whole hours",
  run: async (_input, { deps, read }) => {
    const now = deps.clock.now();
    const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
    const { data } = await read(contract.metrics.get, { from: dayOf(now - DAY), to: dayOf(now), interval: "hour", zone: "UTC" });
    const recent = data.filter(({ to }) => Date.parse(to) > now - DAY);
    return {
      ...{ DedicatedIpAutoWarmupEnabled: false, EnforcementStatus: "HEALTHY", SendingEnabled: true },
      // Mail of a server in dev mode stays there, as that of an account in the sandbox does.
      ProductionAccessEnabled: !deps.config.dev,
      SendQuota: {
        Max24HourSend: -1,
        MaxSendRate: deps.config.rates.send.perSecond,
        SentLast24Hours: recent.reduce((sum, { sent }) => sum + sent, 0),
      },
      SuppressionAttributes: { SuppressedReasons: ["BOUNCE", "COMPLAINT"] },
    };
  },
});

/** Supported operations of the API of SES, version 2. */
const SES_OPERATIONS: readonly Operation[] = [sendEmail, sendBulkEmail, ...templateOperations, ...suppressionOperations, getAccount];

const SENDERS = "Senders: mailsvc senders create, mailsvc senders verify ID.";
const LISTS = "Lists: mailsvc lists list, mailsvc contacts import FILE.";
const SETS = "Events go to webhooks: mailsvc webhooks create.";

/** Operations of SES that are not here, of those that its programs call most. */
const ABSENT: readonly AbsentOperation[] = [
  { method: "POST", path: "/v2/email/identities", instead: SENDERS },
  { method: "GET", path: "/v2/email/identities", instead: SENDERS },
  { method: "POST", path: "/v2/email/list-identities", instead: SENDERS },
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
export function createSes(deps: DialectDeps, calls: ContractCalls, devKey: string | null): Dialect {
  return {
    prefix: PREFIX,
    lookUpKeys: (keys) => ({ ...lookUpForeignKeys(keys, (key) => !key.startsWith("ms_"), devKey), readKey: readKeyId }),
    describeError,
    operations: buildRoutes(PREFIX, SES_OPERATIONS, ABSENT, deps, renameFields(calls, FIELD_NAMES)),
  };
}

// Authorization: AWS4-HMAC-SHA256 Credential=KEY/20300131/us-east-1/ses/aws4_request, SignedHeaders=…, Signature=…
const SIGNED = /^AWS4-HMAC-SHA256 +(?:.*[ ,])?Credential=([^/,\s]+)\/\d{8}\//;

/**
 * The access key id of a signed request, which is the key; null if it is not signed. The signature itself is not checked: it is made with
 * a secret that this server never had. An id in the address of a request does not count, because addresses end up in logs.
 */
function readKeyId(headers: HeaderReader): string | null {
  return SIGNED.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

const DESTINATION: FieldNames = {
  from: "FromEmailAddress",
  to: "Destination.ToAddresses",
  cc: "Destination.CcAddresses",
  bcc: "Destination.BccAddresses",
  replyTo: "ReplyToAddresses",
  tags: "EmailTags",
};
const SIMPLE = "Content.Simple";
const BULK: FieldNames = {
  emails: "BulkEmailEntries",
  ...Object.fromEntries(Object.entries(DESTINATION).map(([name, own]) => [`emails.${name}`, own])),
  "emails.template": "TemplateName",
  "emails.variables": "TemplateData",
};
const TEMPLATE: FieldNames = { name: "TemplateName", slug: "TemplateName", subject: "Subject", html: "Html", text: "Text" };

/** The fields that SES calls otherwise. */
const FIELD_NAMES: ReadonlyMap<Endpoint, FieldNames> = new Map<Endpoint, FieldNames>([
  [
    contract.emails.send,
    {
      ...DESTINATION,
      subject: `${SIMPLE}.Subject`,
      html: `${SIMPLE}.Body.Html`,
      text: `${SIMPLE}.Body.Text`,
      attachments: `${SIMPLE}.Attachments`,
    },
  ],
  [contract.emails.sendTemplate, { ...DESTINATION, slug: "TemplateName", variables: "TemplateData" }],
  [contract.emails.sendBatch, BULK],
  [contract.templates.create, TEMPLATE],
  [contract.templates.update, TEMPLATE],
  [contract.suppressions.create, { email: "EmailAddress", reason: "Reason" }],
]);
