import { AddressError, parseAddress, toDomain } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

/** Parts of a domain check. */
export const DOMAIN_CHECKS = ["sender", "spf", "dkim", "dmarc", "alignment", "ptr", "mx"] as const;
export type DomainCheckName = (typeof DOMAIN_CHECKS)[number];

/** `skipped`: it does not apply, or cannot be known from here. */
export const FINDING_STATUSES = ["ok", "warn", "fail", "skipped"] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

/** One finding about a domain. */
export const DomainFinding = z
  .object({
    check: z.enum(DOMAIN_CHECKS),
    status: z.enum(FINDING_STATUSES),
    message: z.string(),
    /** The DNS record to publish, in place of those of this type at this name that are for the same purpose. */
    record: z.object({ type: z.enum(["TXT", "MX", "PTR"]), name: z.string(), value: z.string() }).nullable(),
    /** Next step; null when there is nothing to do. */
    hint: z.string().nullable(),
  })
  .meta({ id: "DomainFinding" });
export type DomainFinding = z.infer<typeof DomainFinding>;

export const DomainCheck = z
  .object({
    domain: z.string(),
    /** False if a finding failed. */
    ok: z.boolean(),
    /** The relay that mail from the domain takes; null if it is captured. */
    relay: z.string().nullable(),
    /** The domain of the return path, for which receivers check SPF. */
    returnPathDomain: z.string(),
    checkedAt: Instant,
    findings: z.array(DomainFinding),
  })
  .meta({ id: "DomainCheck" });
export type DomainCheck = z.infer<typeof DomainCheck>;

const DomainOrAddress = z
  .string()
  .max(320)
  .superRefine((text, ctx) => {
    try {
      if (text.includes("@")) parseAddress(text);
      else toDomain(text);
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      ctx.addIssue({ code: "custom", message: error.message, params: { code: "invalid_domain" } });
    }
  })
  .meta({ description: "A domain, or an address you send from", examples: ["example.com"] });

export const domains = {
  check: endpoint({
    method: "GET",
    path: "/api/v1/domain-check",
    access: { permission: "senders:read" },
    summary: "Check the DNS records that mail from a domain needs: SPF, DKIM, DMARC, PTR and MX",
    description:
      "Compares them with what this server signs with and with the relay that takes the mail, and gives the records to publish. DMARC is judged by RFC 9989. Name servers that fail, loop or do not answer are findings; it takes 15 seconds at most.",
    query: z.object({
      domain: DomainOrAddress,
      selector: z
        .string()
        .max(100)
        .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/)
        .optional()
        .meta({ description: "DKIM selector of a provider that signs the mail itself" }),
      ip: z
        .string()
        .max(45)
        .regex(/^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f.:]*)$/)
        .optional()
        .meta({ description: "Public address that mail leaves from, if the relay is on this machine or network" }),
    }),
    // The bucket of writes: each call asks name servers of others.
    bucket: "write",
    output: DomainCheck,
    examples: [
      { summary: "A domain", query: { domain: "acme.example" } },
      { summary: "An address, whose mail leaves from another address", query: { domain: "news@acme.example", ip: "192.0.2.1" } },
    ],
  }),
};
