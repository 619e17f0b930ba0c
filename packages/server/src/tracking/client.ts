import type { MachineReason } from "./tables.ts";

/** A request for a pixel or a link, as far as it tells a person from a machine. */
interface TrackedRequest {
  readonly method: "GET" | "HEAD" | "POST";
  header(name: string): string | null;
}

/** The program behind a request, and why it is a machine; null if it may be a person. */
export interface Client {
  readonly name: string;
  readonly reason: MachineReason | null;
}

// Gmail fetches some images when a mail arrives, under the name of an outdated Edge; when it is opened, as GoogleImageProxy.
const GMAIL_PREFETCH = /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246/;

// Apple's proxies and some scanners say this and nothing else.
const BARE = /^Mozilla\/5\.0$/;

const SCANNER =
  /bot\b|crawl|spider|scan(?:ner|ning)?\b|\bcheck(?:er)?\b|preview|monitor|headless|phantomjs|selenium|puppeteer|playwright|barracuda|proofpoint|mimecast|symantec|messagelabs|trendmicro|trend ?micro|forcepoint|fireeye|trellix|sophos|zscaler|cisco|ironport|cloudmark|safelinks|bitdefender|kaspersky|avast|urldefense|slackbot|facebookexternalhit|whatsapp|telegram|skypeuripreview|discord|bingpreview|^(?:curl|wget|python|java|go-http-client|okhttp|axios|node|undici|ruby|perl|php|libwww|lwp|apache-httpclient|guzzle|httpie|postman|dart)\b/i;

// The first that matches, because browsers also name those they descend from.
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/GoogleImageProxy/i, "Gmail"],
  [/YahooMailProxy/i, "Yahoo Mail"],
  [/Thunderbird/i, "Thunderbird"],
  [/Outlook|MSOffice|Microsoft Office/i, "Outlook"],
  [/Superhuman/i, "Superhuman"],
  [/Edg(?:e|A|iOS)?\//i, "Edge"],
  [/OPR\/|Opera/i, "Opera"],
  [/SamsungBrowser/i, "Samsung Internet"],
  [/Firefox|FxiOS/i, "Firefox"],
  [/Chrome|CriOS|Chromium/i, "Chrome"],
  [/Version\/.*Safari/i, "Safari"],
  [/AppleWebKit.*Mobile|Macintosh.*AppleWebKit/i, "Apple Mail"],
];

// No honest name is longer; the rest is not read.
const MAX_AGENT = 512;

/**
 * Tells what a request alone shows. Image proxies of Gmail and Yahoo fetch when a person opens the mail, so they count as
 * people; what Gmail fetches ahead comes under another name, or too soon.
 */
export function identifyClient({ method, header }: TrackedRequest): Client {
  const agent = (header("user-agent") ?? "").slice(0, MAX_AGENT).trim();
  const name = nameOf(agent);
  if (method === "HEAD") return { name, reason: "head-request" };
  if (isPrefetch(header) || GMAIL_PREFETCH.test(agent)) return { name, reason: "prefetch" };
  if (BARE.test(agent)) return { name: "Apple Mail", reason: "apple-mail-privacy" };
  if (agent === "" || SCANNER.test(agent)) return { name, reason: "scanner" };
  return { name, reason: null };
}

function nameOf(agent: string): string {
  return NAMES.find(([pattern]) => pattern.test(agent))?.[1] ?? "other";
}

function isPrefetch(header: TrackedRequest["header"]): boolean {
  return ["sec-purpose", "purpose", "x-purpose", "x-moz"].some((name) => /prefetch|preview/i.test(header(name) ?? ""));
}
