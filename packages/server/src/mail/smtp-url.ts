import { isLoopbackHost } from "@mailsvc/sdk/contract";

/** Login: a password, or an access token (XOAUTH2). */
type SmtpAuth = { user: string; pass: string } | { user: string; tokens: TokenSource };

/** Gives access tokens. */
export interface TokenSource {
  /** A token that is valid now. `refused` is one that the mail server did not accept: then it is another one. Throws TokenError. */
  get(refused?: string): Promise<string>;
}

/** The next hop as an SMTP URL describes it. Absent fields get the mailer's defaults. Times are in ms. */
export interface SmtpTarget {
  host: string;
  port: number;
  /** TLS from the first byte (smtps). */
  implicitTls: boolean;
  /** STARTTLS: always, if offered, or never. */
  tls: "required" | "opportunistic" | "off";
  /** True if the certificate must be valid for the host. */
  verify: boolean;
  auth: SmtpAuth | null;
  maxConnections?: number;
  maxMessages?: number;
  /** Our name in EHLO. */
  name?: string;
  connectMs?: number;
  greetingMs?: number;
  socketMs?: number;
}

/** An invalid SMTP URL. `message` is a sentence that never contains the password. */
export class SmtpUrlError extends Error {
  override name = "SmtpUrlError";
}

const OPTIONS: Record<string, (target: SmtpTarget, text: string) => void> = {
  tls: (target, text) => {
    if (text !== "required" && text !== "opportunistic" && text !== "off")
      return throwError(`tls=${text}: use required, opportunistic or off.`);
    if (target.implicitTls && text !== "required") throwError(`tls=${text} contradicts smtps, which is TLS from the first byte. Use smtp.`);
    target.tls = text;
  },
  verify: (target, text) => {
    if (text !== "true" && text !== "false") throwError(`verify=${text}: use true or false.`);
    target.verify = text === "true";
  },
  pool: (target, text) => {
    target.maxConnections = wholeNumber(100)("pool", text);
  },
  messages: (target, text) => {
    target.maxMessages = wholeNumber(1_000_000)("messages", text);
  },
  name: (target, text) => {
    target.name = ehloName("name", text);
  },
  connect: (target, text) => {
    target.connectMs = seconds("connect", text);
  },
  greeting: (target, text) => {
    target.greetingMs = seconds("greeting", text);
  },
  timeout: (target, text) => {
    target.socketMs = seconds("timeout", text);
  },
};

/**
 * Parses `smtp://user:pass@host:port?option=value` or `smtps://...`. Ports: 587, with smtps 465. Options: `tls=required|
 * opportunistic|off`, `verify=true|false`, `pool` (connections), `messages` (per connection), `name` (EHLO), and in seconds
 * `connect`, `greeting`, `timeout`.
 *
 * STARTTLS is opportunistic, but required if a password would leave this machine. Certificates are verified except on loopback.
 * Throws SmtpUrlError.
 */
export function parseSmtpUrl(text: string): SmtpTarget {
  if (!/^smtps?:\/\//i.test(text)) return throwError("An SMTP URL starts with smtp:// or smtps://.");
  if (!URL.canParse(text))
    return throwError("The SMTP URL cannot be read; write special characters of user and password as %XX (@ is %40, / is %2F, # is %23).");
  const url = new URL(text);
  if (url.hostname === "") return throwError("The SMTP URL has no host.");
  if (url.pathname !== "" && url.pathname !== "/") return throwError("The SMTP URL has a path; write / in a password as %2F.");
  if (url.hash !== "") return throwError("The SMTP URL has a #; write it as %23 in a password.");
  const host = decode("host", url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (!/^[A-Za-z0-9._:-]+$/.test(host)) return throwError("The host in the SMTP URL is not a host name.");
  if (url.port === "0") return throwError("The port in the SMTP URL is 0.");
  const implicitTls = url.protocol === "smtps:";
  const auth = parseCredentials(url);
  const local = isLoopback(host);
  const target: SmtpTarget = {
    host,
    port: url.port === "" ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    tls: implicitTls || (auth !== null && !local) ? "required" : "opportunistic",
    verify: !local,
    auth,
  };
  const seen = new Set<string>();
  for (const [option, value] of url.searchParams) {
    const apply = Object.hasOwn(OPTIONS, option) ? OPTIONS[option] : undefined;
    if (apply === undefined)
      return throwError(`The SMTP URL has an unknown option ${option}; known are ${Object.keys(OPTIONS).join(", ")}.`);
    if (seen.has(option)) return throwError(`The SMTP URL has the option ${option} twice.`);
    seen.add(option);
    apply(target, value);
  }
  return target;
}

function throwError(why: string): never {
  throw new SmtpUrlError(why.replace(/\p{Cc}+/gu, " "));
}

function wholeNumber(max: number) {
  return (option: string, text: string): number => {
    const n = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    return n >= 1 && n <= max ? n : throwError(`${option}=${text}: a whole number from 1 to ${max} is needed.`);
  };
}

function seconds(option: string, text: string): number {
  return wholeNumber(3600)(option, text) * 1000;
}

function ehloName(option: string, text: string): string {
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[(?:IPv6:)?[0-9A-Fa-f:.]+\])$/.test(text)
    ? text
    : throwError(`${option}=${text}: a host name such as mail.example.com is needed.`);
}

/** True if a host is this machine. */
export function isLoopback(host: string): boolean {
  return isLoopbackHost(host) || /.\.localhost$/i.test(host);
}

function decode(what: string, text: string): string {
  let out = "";
  try {
    out = decodeURIComponent(text);
  } catch {
    throwError(`The ${what} in the SMTP URL has a % that is not followed by two hex digits; write %25 for %.`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are what is checked.
  return /[\x00-\x1f\x7f]/.test(out) ? throwError(`The ${what} in the SMTP URL holds a control character.`) : out;
}

function parseCredentials(url: URL): { user: string; pass: string } | null {
  if (url.username === "" && url.password === "") return null;
  if (url.username === "") return throwError("The SMTP URL has a password but no user.");
  if (url.password === "") return throwError("The SMTP URL has a user but no password.");
  return { user: decode("user", url.username), pass: decode("password", url.password) };
}
