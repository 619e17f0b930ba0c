import { EmailAddress } from "./address.ts";
import { refuseCharacters } from "./characters.ts";
import { endpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { line } from "./name.ts";
import { Instant } from "./page.ts";
import { RelayName } from "./relay-name.ts";
import { RELAY_STATES } from "./relay-states.ts";
import { DomainName } from "./senders.ts";
import * as z from "./zod.ts";

export const RELAY_LIMITS = limits("relays", "Relays", {
  relays: [100, "relays that the API adds"],
  host: [255, "host", "characters"],
  secret: [16_384, "password, token or private key", "characters"],
  connections: [100, "connections at the same time"],
  perSecond: [10_000, "mails per second, if you set a limit"],
  fallbacks: [5, "fallbacks of a relay"],
  dkimKeys: [50, "DKIM keys of a relay"],
});

/** Encryption of a connection: from the first byte, by STARTTLS always or when it is offered, or none. */
export const RELAY_TLS = ["implicit", "required", "opportunistic", "off"] as const;
export type RelayTls = (typeof RELAY_TLS)[number];

/** Services whose access tokens relays accept; `custom` takes the addresses of its token server from `tokenUrl`. */
export const OAUTH_PROVIDERS = ["microsoft", "google", "custom"] as const;
export type OAuthProvider = (typeof OAUTH_PROVIDERS)[number];

const secret = z
  .string()
  .min(1)
  .max(RELAY_LIMITS.secret)
  .refine((s) => !/[\p{Cc}]/u.test(s) && s.isWellFormed(), refuseCharacters("Line breaks and control characters are not allowed here."));

const DkimWorkspaces = z.union([z.literal("all"), z.array(z.string().min(1).max(100)).min(1).max(1000)]).meta({
  description: "The workspaces whose mail it signs, by id, or all; the workspace of the relay unless said, else the first one",
});

const DkimKey = z.strictObject({
  domain: DomainName,
  selector: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/)
    .meta({ description: "The name under _domainkey" }),
  privateKey: z.string().min(1).max(RELAY_LIMITS.secret).meta({ description: "PEM" }),
  workspaces: DkimWorkspaces.optional(),
});

/** The settings that are secrets. They are sealed, shown to nobody, and may stand in files of their own. */
const settingsToSeal = {
  password: secret.nullable().optional().meta({ description: "Password of the user" }),
  clientSecret: secret.nullable().optional().meta({ description: "OAuth2: the secret of the application" }),
  refreshToken: secret
    .nullable()
    .optional()
    .meta({ description: "OAuth2: for the refresh token grant; without it the client credentials grant is used" }),
};
type RelaySecret = keyof typeof settingsToSeal;
export const RELAY_SECRETS = Object.keys(settingsToSeal) as readonly RelaySecret[];

const settings = {
  host: z
    .string()
    .max(RELAY_LIMITS.host)
    .regex(/^[A-Za-z0-9._:-]+$/)
    .meta({ description: "Host name or address of the mail server" }),
  port: z.int().min(1).max(65_535).optional().meta({ description: "Port; 587 unless said, with implicit TLS 465" }),
  tls: z.enum(RELAY_TLS).optional().meta({
    description: "Encryption: from the first byte (implicit), STARTTLS always or when offered, or off. A login needs it by default",
  }),
  verify: z
    .boolean()
    .optional()
    .meta({ description: "Whether the certificate must be valid for the host; by default on all but this machine" }),
  user: line(320).nullable().optional().meta({ description: "User to log in as; with OAuth2 the mailbox" }),
  password: settingsToSeal.password,
  oauth: z
    .enum(OAUTH_PROVIDERS)
    .nullable()
    .optional()
    .meta({ description: "Log in with an access token of this service instead of a password" }),
  tenant: line(200).nullable().optional().meta({ description: "Microsoft: the directory (tenant) id" }),
  clientId: line(500).nullable().optional().meta({ description: "OAuth2: the id of the application" }),
  clientSecret: settingsToSeal.clientSecret,
  refreshToken: settingsToSeal.refreshToken,
  scope: line(1000).nullable().optional().meta({ description: "OAuth2: what to ask for; known for Microsoft and Google" }),
  tokenUrl: z.url().max(2000).nullable().optional().meta({ description: "OAuth2: the token server; known for Microsoft and Google" }),
  dkim: z
    .array(DkimKey)
    .max(RELAY_LIMITS.dkimKeys)
    .nullable()
    .optional()
    .meta({ description: "Keys to sign with; null for those of --dkim, an empty list to sign nothing" }),
  ratePerSecond: z
    .number()
    .min(0.01)
    .max(RELAY_LIMITS.perSecond)
    .nullable()
    .optional()
    .meta({ description: "Mails per second at most, of all processes of the server together; null for no limit" }),
  connections: z.int().min(1).max(RELAY_LIMITS.connections).optional().meta({ description: "Connections at the same time; 5 unless said" }),
  fallback: z
    .array(RelayName)
    .max(RELAY_LIMITS.fallbacks)
    .optional()
    .meta({ description: "Relays that take over while this one is out of service, in this order" }),
  workspaceId: z
    .string()
    .max(100)
    .nullable()
    .optional()
    .meta({ description: "The only workspace whose mail may name it; null for every workspace" }),
};

/** A relay as it is added, and as a file of relays lists it. */
export const NewRelay = z.strictObject({ name: RelayName, ...settings }).meta({ id: "NewRelay" });
export type NewRelay = z.output<typeof NewRelay>;

/** A relay as operators see it. Its secrets are never shown. */
export const Relay = z
  .object({
    name: z.string(),
    /** Origin: the API, the file of --relays, or --smtp-url. Calls can change only those of the API. */
    source: z.enum(["api", "file", "smtp-url"]),
    host: z.string(),
    port: z.int(),
    tls: z.enum(RELAY_TLS),
    verify: z.boolean(),
    /** Login method. */
    auth: z.enum(["none", "password", "client_credentials", "refresh_token"]),
    user: z.string().nullable(),
    oauth: z.enum(OAUTH_PROVIDERS).nullable(),
    tenant: z.string().nullable(),
    clientId: z.string().nullable(),
    scope: z.string().nullable(),
    tokenUrl: z.string().nullable(),
    /** The keys it signs with; null for those of the server. */
    dkim: z.array(z.object({ domain: z.string(), selector: z.string(), workspaces: DkimWorkspaces.nullable() })).nullable(),
    ratePerSecond: z.number().nullable(),
    connections: z.int(),
    fallback: z.array(z.string()),
    workspaceId: z.string().nullable(),
    state: z.enum(RELAY_STATES).meta({ description: "Of the server process that answers" }),
    /** Reason it is not up. */
    reason: z.string().nullable(),
    /** Since when it is in this state. */
    since: Instant,
    answeredAt: Instant.nullable().meta({ description: "Its last mail or check since the server started" }),
  })
  .meta({ id: "Relay" });
export type Relay = z.infer<typeof Relay>;

/** Result of connecting to a relay and logging in. */
export const RelayCheck = z
  .object({
    name: z.string(),
    ok: z.boolean(),
    /** Fault; null if there is none. */
    reason: z.string().nullable(),
    ms: z.number().meta({ description: "How long it took" }),
  })
  .meta({ id: "RelayCheck" });
export type RelayCheck = z.infer<typeof RelayCheck>;

export const RELAY_STEPS = ["resolve", "connect", "greet", "token", "login", "send"] as const;

/** One step of a test of a relay. */
export const RelayStep = z
  .object({
    step: z.enum(RELAY_STEPS),
    ok: z.boolean(),
    ms: z.number().meta({ description: "How long it took" }),
    detail: z.string(),
    /** Fix for a failed step. */
    hint: z.string().nullable(),
  })
  .meta({ id: "RelayStep" });
export type RelayStep = z.infer<typeof RelayStep>;

const name = { name: "ses" };
const secrets = "Passwords, tokens and private keys are stored encrypted and are in no answer.";

export const relays = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/relays",
    access: "operator",
    summary: "List the mail servers that take this server's mail",
    output: z.object({ data: z.array(Relay) }),
    examples: [{ summary: "All" }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/relays/:name",
    access: "operator",
    summary: "Get one relay and its state",
    output: Relay,
    errors: ["not_found"],
    examples: [{ summary: "Get", params: name }],
  }),
  add: endpoint({
    method: "POST",
    path: "/api/v1/relays",
    access: "operator",
    summary: "Add a relay",
    description: `Mail uses it once a workspace, sender or campaign names it, and all other mail if it is called default. ${secrets}`,
    body: NewRelay,
    status: 201,
    output: Relay,
    errors: ["conflict", "limit_reached"],
    examples: [
      {
        summary: "With a password",
        body: {
          name: "ses",
          host: "email-smtp.eu-west-1.amazonaws.com",
          user: "AKIAEXAMPLE",
          password: "correct-horse",
          ratePerSecond: 14,
        },
      },
      {
        summary: "Microsoft 365 with client credentials",
        body: {
          name: "office",
          host: "smtp.office365.com",
          user: "news@acme.example",
          oauth: "microsoft",
          tenant: "11111111-2222-3333-4444-555555555555",
          clientId: "66666666-7777-8888-9999-000000000000",
          clientSecret: "correct-horse",
          fallback: ["ses"],
        },
      },
    ],
  }),
  update: endpoint({
    method: "PATCH",
    path: "/api/v1/relays/:name",
    access: "operator",
    summary: "Change a relay",
    description: `Fields that are left out stay. Mail under way ends on the connections it has. ${secrets}`,
    body: z.strictObject({ ...settings, host: settings.host.optional() }),
    output: Relay,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Another password", params: name, body: { password: "battery-staple" } }],
  }),
  remove: endpoint({
    method: "DELETE",
    path: "/api/v1/relays/:name",
    access: "operator",
    summary: "Remove a relay that nothing names",
    output: Relay,
    errors: ["not_found", "conflict"],
    examples: [{ summary: "Remove", params: name }],
  }),
  test: endpoint({
    method: "POST",
    path: "/api/v1/relays/:name/test",
    access: "operator",
    summary: "Connect to a relay and log in, and show each step",
    description: "Sends nothing, unless `to` is given. The steps end at the first one that fails.",
    body: z.strictObject({
      to: EmailAddress.optional().meta({ description: "Send a test mail to this address" }),
      from: EmailAddress.optional().meta({ description: "Sender of the test mail; by default that of --mail-from" }),
    }),
    waitSeconds: 90,
    output: z.object({ ok: z.boolean(), relay: z.string(), steps: z.array(RelayStep) }),
    errors: ["not_found"],
    examples: [
      { summary: "Connect and log in", params: name, body: {} },
      { summary: "Send a mail as well", params: name, body: { to: "postmaster@acme.example", from: "news@acme.example" } },
    ],
  }),
};
