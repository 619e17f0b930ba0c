/** A flag of `mailsvc serve` and `mailsvc dev`, and its environment variable. */
export interface ServeFlag {
  readonly name: string;
  /** The placeholder of its value in help; null for a switch. */
  readonly value: string | null;
  readonly env: string;
  readonly summary: string;
  /** True for the flags that most servers need: help shows these first. */
  readonly common?: true;
}

/** The flags of `dev` alone. */
export const DEV_FLAGS = [
  {
    name: "seed",
    value: "N",
    env: "MAILSVC_SEED",
    summary: "the same keys for the same number, and with --now the same ids; for new data only",
  },
  {
    name: "now",
    value: "INSTANT",
    env: "MAILSVC_NOW",
    summary: "begin at this instant (ISO 8601), with a clock that stands still until it is moved; for new data only",
  },
] as const satisfies readonly ServeFlag[];

/** The flags of `serve` and `dev`. The CLI derives its options from this table. */
export const SERVE_FLAGS = [
  { name: "port", value: "N", env: "MAILSVC_PORT", summary: "port to listen on; 0 for any free one (default 2526)", common: true },
  { name: "host", value: "ADDRESS", env: "MAILSVC_HOST", summary: "address to listen on (default 127.0.0.1)", common: true },
  {
    name: "data",
    value: "DIR",
    env: "MAILSVC_DATA",
    summary: "folder of the database (default mailsvc-data; in dev mode .mailsvc)",
    common: true,
  },
  { name: "database-url", value: "URL", env: "MAILSVC_DATABASE_URL", summary: "postgres://… instead of a folder", common: true },
  {
    name: "take-over",
    value: null,
    env: "MAILSVC_TAKE_OVER",
    summary: "send from data that was copied, restored or moved away, after the server it came from was stopped for good; for one start",
  },
  {
    name: "database-connections",
    value: "N",
    env: "MAILSVC_DATABASE_CONNECTIONS",
    summary: "connections of this process to Postgres, 2 to 500 (default 16), and one more for the queue",
  },
  {
    name: "smtp-url",
    value: "URL",
    env: "MAILSVC_SMTP_URL",
    summary: "smtp://… or smtps://… to send through; without it mail is captured",
    common: true,
  },
  {
    name: "relays",
    value: "FILE",
    env: "MAILSVC_RELAYS",
    summary: "mail servers to send through besides --smtp-url, which is the one called default: a JSON file, see docs/relays.md",
    common: true,
  },
  {
    name: "dkim",
    value: "DOMAIN:SELECTOR:KEYFILE",
    env: "MAILSVC_DKIM",
    summary:
      "sign mail of the first workspace from this domain with this private key; :WORKSPACE+WORKSPACE or :all at the end signs for others; several with commas",
    common: true,
  },
  { name: "mail-from", value: "ADDRESS", env: "MAILSVC_MAIL_FROM", summary: "sender of the service's own mail, e.g. confirmations" },
  {
    name: "name",
    value: "NAME",
    env: "MAILSVC_NAME",
    summary: "name of the first workspace that stands in footers of mail and on pages, until the brand has another one",
  },
  {
    name: "trust-sender",
    value: "DOMAIN",
    env: "MAILSVC_TRUST_SENDER",
    summary: "let the first workspace send from this domain or address without proof; several with commas",
  },
  {
    name: "public-url",
    value: "URL",
    env: "MAILSVC_PUBLIC_URL",
    summary: "address under which people reach this server, for links in mail",
    common: true,
  },
  {
    name: "tracking-url",
    value: "URL",
    env: "MAILSVC_TRACKING_URL",
    summary: "another address of this server, such as https://click.acme.com, for open and click tracking (default: that of --public-url)",
  },
  {
    name: "inbound-domain",
    value: "DOMAIN",
    env: "MAILSVC_INBOUND_DOMAIN",
    summary: "domain whose MX leads to --inbound-smtp-port: bounces of each mail go to its own address there",
    common: true,
  },
  {
    name: "inbound-smtp-port",
    value: "[HOST:]PORT",
    env: "MAILSVC_INBOUND_SMTP_PORT",
    summary: "accept bounces, complaints and unsubscribe mail over SMTP here, such as 0.0.0.0:25 (host: that of --host)",
    common: true,
  },
  {
    name: "inbound-smtp-tls",
    value: "FILE",
    env: "MAILSVC_INBOUND_SMTP_TLS",
    summary: "offer STARTTLS there with the private key and certificates in this PEM file, or in several with commas",
  },
  {
    name: "inbound-trust",
    value: "ADDRESS",
    env: "MAILSVC_INBOUND_TRUST",
    summary:
      "believe the sender of mail that these addresses or networks hand over there, such as 10.0.0.2,10.1.0.0/16, or none (default 127.0.0.0/8,::1)",
  },
  {
    name: "proxy-protocol",
    value: "ADDRESS",
    env: "MAILSVC_PROXY_PROTOCOL",
    summary: "expect the PROXY protocol, version 1 or 2, at all SMTP ports from these addresses or networks; several with commas",
  },
  {
    name: "trust-proxy",
    value: "ADDRESS",
    env: "MAILSVC_TRUST_PROXY",
    summary:
      "take the client's address from X-Forwarded-For of requests from these addresses or networks; several with commas (default none)",
  },
  {
    name: "resend-port",
    value: "[HOST:]PORT",
    env: "MAILSVC_RESEND_PORT",
    summary: "serve Resend's API here without /resend before its paths, for clients that drop the path of an address",
  },
  {
    name: "smtp-port",
    value: "[HOST:]PORT",
    env: "MAILSVC_SMTP_PORT",
    summary: "accept mail to send over SMTP here, with an API key as password; off for nowhere (in dev mode 1025, or any free port)",
    common: true,
  },
  {
    name: "smtps-port",
    value: "[HOST:]PORT",
    env: "MAILSVC_SMTPS_PORT",
    summary: "the same with TLS from the first byte, such as 0.0.0.0:465; needs --smtp-tls",
  },
  {
    name: "smtp-tls",
    value: "FILE",
    env: "MAILSVC_SMTP_TLS",
    summary: "private key and certificates for both in this PEM file, or in several with commas; offers STARTTLS at --smtp-port",
    common: true,
  },
  {
    name: "smtp-insecure-auth",
    value: null,
    env: "MAILSVC_SMTP_INSECURE_AUTH",
    summary: "take API keys at --smtp-port without TLS from other machines too, for a private network",
  },
  {
    name: "rate-limit",
    value: "BUCKET=N/s",
    env: "MAILSVC_RATE_LIMIT",
    summary: "limit per key: send=…, write=…, read=…; of agents agent=N/min, message=N/min, log=N/min; several with commas",
    common: true,
  },
  {
    name: "keep",
    value: "WHAT=DAYS",
    env: "MAILSVC_KEEP",
    summary:
      "how many days records are kept: logs=30, runs=365, deliveries=90, stats=730, emails=forever, events=forever, received=forever, audit=365 (these unless said), requests=30 (none are kept unless said); several with commas",
    common: true,
  },
  {
    name: "late-campaigns",
    value: "send|hold",
    env: "MAILSVC_LATE_CAMPAIGNS",
    summary: "what happens to a scheduled campaign that was due over an hour ago, while the server was down (default hold)",
  },
  {
    name: "max-body",
    value: "MB",
    env: "MAILSVC_MAX_BODY",
    summary: "largest request body in MB (default 30); a third more where a file may come as base64",
  },
  {
    name: "secret-key",
    value: "KEY",
    env: "MAILSVC_SECRET_KEY",
    summary:
      "32 bytes in base64 or hex that encrypt webhook secrets, and with commas those before them; without it one is made and kept with the data",
    common: true,
  },
  {
    name: "stripe-key",
    value: "KEY",
    env: "MAILSVC_STRIPE_KEY",
    summary: "take payments for listings through Stripe; without it they are confirmed by hand",
  },
  {
    name: "stripe-webhook-secret",
    value: "SECRET",
    env: "MAILSVC_STRIPE_WEBHOOK_SECRET",
    summary: "whsec_… of the webhook endpoint at Stripe that points to /api/v1/marketplace/payments/stripe/webhook",
  },
  { name: "stripe-url", value: "URL", env: "MAILSVC_STRIPE_URL", summary: "another place than Stripe's own API, such as a stand-in" },
  {
    name: "sso-header",
    value: "NAME",
    env: "MAILSVC_SSO_HEADER",
    summary: "sign people in to the dashboard whom a proxy of --sso-proxies names in this header, such as X-Forwarded-Email",
  },
  {
    name: "sso-proxies",
    value: "ADDRESS",
    env: "MAILSVC_SSO_PROXIES",
    summary: "addresses or networks of those proxies, several with commas; the header counts from nowhere else",
  },
  { name: "sso-owners", value: "NAME", env: "MAILSVC_SSO_OWNERS", summary: "who of them is an owner, several with commas" },
  {
    name: "sso-role",
    value: "ROLE",
    env: "MAILSVC_SSO_ROLE",
    summary: "what all others are: owner, marketer, viewer or support (default viewer)",
  },
  {
    name: "oidc-issuer",
    value: "URL",
    env: "MAILSVC_OIDC_ISSUER",
    summary: "sign people in to the dashboard by this provider of OpenID Connect; needs --oidc-client-id",
  },
  { name: "oidc-client-id", value: "ID", env: "MAILSVC_OIDC_CLIENT_ID", summary: "the id of this server there" },
  {
    name: "oidc-client-secret",
    value: "SECRET",
    env: "MAILSVC_OIDC_CLIENT_SECRET",
    summary: "its secret; better by its variable or by --oidc-client-secret-file",
  },
  { name: "oidc-client-secret-file", value: "FILE", env: "MAILSVC_OIDC_CLIENT_SECRET_FILE", summary: "a file that holds this secret" },
  {
    name: "oidc-domains",
    value: "DOMAIN",
    env: "MAILSVC_OIDC_DOMAINS",
    summary: "people with addresses of these domains need no invitation and sign in by the provider only; several with commas",
  },
  {
    name: "oidc-role",
    value: "ROLE",
    env: "MAILSVC_OIDC_ROLE",
    summary: "the role of those who were not invited: owner, marketer, viewer or support; needed with --oidc-domains",
  },
  {
    name: "webhook-allow",
    value: "HOST",
    env: "MAILSVC_WEBHOOK_ALLOW",
    summary: "let webhooks call this name, *.domain, address or range of your own network, also over HTTP; several with commas",
  },
  {
    name: "max-connections",
    value: "N",
    env: "MAILSVC_MAX_CONNECTIONS",
    summary: "open connections at most; further ones are closed at once (default 10000)",
  },
  {
    name: "min-free-disk",
    value: "MB",
    env: "MAILSVC_MIN_FREE_DISK",
    summary: "refuse writes with 503 while the disk of --data has less free space than this (default 100; 0 never)",
  },
  {
    name: "mcp",
    value: "LEVEL",
    env: "MAILSVC_MCP",
    summary: "what MCP clients may do at /mcp with a key: read, or write too after a person has confirmed it, or off (default read)",
  },
  {
    name: "mcp-max-recipients",
    value: "N",
    env: "MAILSVC_MCP_MAX_RECIPIENTS",
    summary: "refuse calls of MCP clients that would reach more people than this",
  },
  {
    name: "mcp-allow-to",
    value: "DOMAIN",
    env: "MAILSVC_MCP_ALLOW_TO",
    summary: "let MCP clients send to this domain only; several with commas",
  },
  {
    name: "release-relay",
    value: "URL",
    env: "MAILSVC_RELEASE_RELAY",
    summary: "let captured mail be sent on by this mail server, smtp://user:password@host:587; needs --release-to",
  },
  {
    name: "release-to",
    value: "ADDRESS",
    env: "MAILSVC_RELEASE_TO",
    summary: "where captured mail may be sent on to, such as *@example.com; several with commas",
  },
  {
    name: "marketplace",
    value: null,
    env: "MAILSVC_MARKETPLACE",
    summary: "show agents in the dashboard and in searches before the first one is listed; always in dev mode",
  },
  { name: "access-log", value: null, env: "MAILSVC_ACCESS_LOG", summary: "log a JSON line for each request, without addresses or keys" },
  {
    name: "metrics",
    value: "HOST:PORT",
    env: "MAILSVC_METRICS",
    summary: "serve Prometheus metrics at http://HOST:PORT/metrics, such as 127.0.0.1:9464; not meant for the Internet",
  },
  { name: "https", value: null, env: "MAILSVC_HTTPS", summary: "serve HTTPS with a certificate made on the spot" },
  {
    name: "ready-file",
    value: "FILE",
    env: "MAILSVC_READY_FILE",
    summary: "write a JSON file here once the server listens: url, workspaceId, dashboardUrl and the keys it has just made",
  },
] as const satisfies readonly ServeFlag[];
