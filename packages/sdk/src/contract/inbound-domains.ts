import { endpoint } from "./endpoint.ts";
import { Instant, pageQuery, pageSchema } from "./page.ts";
import { DomainName, SENDER_STATUSES } from "./senders.ts";
import * as z from "./zod.ts";

/** A domain whose mail is received, at any address of it. */
export const InboundDomain = z
  .object({
    id: z.string(),
    /** In lower case and ASCII. */
    domain: z.string(),
    status: z.enum(SENDER_STATUSES),
    /** The records to publish: a TXT that proves control, and an MX that leads mail to this server. */
    dnsRecords: z.array(z.object({ type: z.enum(["TXT", "MX"]), name: z.string(), value: z.string(), priority: z.int().nullable() })),
    /** Error of the last check; null when it succeeded. */
    lastError: z.string().nullable(),
    /** Since when its TXT or MX record is missing, which are looked for once a day; null while both are there. Mail that arrives is still received. */
    failingSince: Instant.nullable(),
    createdAt: Instant,
    verifiedAt: Instant.nullable(),
  })
  .meta({ id: "InboundDomain" });
export type InboundDomain = z.infer<typeof InboundDomain>;

const params = { id: "ind_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const read = { permission: "received:read" } as const;
const write = { permission: "received:write" } as const;

export const inboundDomains = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/inbound-domains",
    access: read,
    summary: "List the domains whose mail is received, newest first",
    query: z.object(pageQuery),
    output: pageSchema(InboundDomain),
    examples: [{ summary: "List" }],
  }),
  create: endpoint({
    method: "POST",
    path: "/api/v1/inbound-domains",
    access: write,
    mailsTo: "nobody",
    summary: "Add a domain whose mail is received, and start its verification",
    description:
      "Once it is verified, mail to every address of the domain is received. It is verified by a DNS TXT record, which is looked for every five minutes for three days; in dev mode it is verified at once. A domain belongs to one workspace of a server.",
    body: z.strictObject({ domain: DomainName.meta({ description: "Domain whose mail is received, such as in.example.com" }) }),
    status: 201,
    output: InboundDomain,
    errors: ["conflict"],
    examples: [{ summary: "A subdomain", body: { domain: "in.acme.example" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/inbound-domains/:id",
    access: read,
    summary: "Get one domain and the DNS records it needs",
    output: InboundDomain,
    errors: ["not_found"],
    examples: [{ summary: "Get", params }],
  }),
  verify: endpoint({
    method: "POST",
    path: "/api/v1/inbound-domains/:id/verify",
    access: write,
    mailsTo: "nobody",
    summary: "Check the DNS records of a domain now",
    description: "Of a domain that waits, the TXT record; of a verified one, the TXT and the MX record.",
    body: z.strictObject({}),
    output: InboundDomain,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Verify", params, body: {} }],
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/api/v1/inbound-domains/:id",
    access: write,
    mailsTo: "nobody",
    summary: "Remove a domain; later mail to it is refused",
    description: "Mail that was received stays.",
    output: InboundDomain,
    errors: ["not_found"],
    examples: [{ summary: "Remove", params }],
  }),
};
