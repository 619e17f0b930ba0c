/**
 * Reason a request got no answer.
 *
 * | kind       | means                                                                                        |
 * | ---------- | -------------------------------------------------------------------------------------------- |
 * | absent     | there was no connection: the webhook is not running, as while it restarts, or no network is up |
 * | unanswered | a connection was there and broke off, or nothing came in time                                |
 * | impossible | no request to this URL can succeed: its certificate, its protocol, its port                  |
 */
export interface FailedRequest {
  readonly kind: "absent" | "unanswered" | "impossible";
  /** Description of the fault, and the remedy if the URL or its server must change. */
  readonly message: string;
}

const ABSENT: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
]);
const BROKEN: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Remedies by error code; the first that matches counts. */
const IMPOSSIBLE: readonly (readonly [codes: RegExp, problem: string, remedy: string])[] = [
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired", "renew it"],
  [/^CERT_NOT_YET_VALID$/, "its certificate is not valid yet", "check the clocks of both machines"],
  [/ALTNAME_INVALID$|^HOSTNAME_MISMATCH$/, "its certificate is for another host", "give a URL with a host that it names"],
  [
    /^CERT_|^UNABLE_TO_|SELF_SIGNED|^INVALID_CA$|^INVALID_PURPOSE$|^ERR_TLS_CERT/,
    "its certificate is not trusted",
    "name its authority in NODE_EXTRA_CA_CERTS=FILE, or give an http:// URL",
  ],
  [/WRONG_VERSION_NUMBER$|PACKET_LENGTH_TOO_LONG$|^EPROTO$/, "it does not speak TLS", "give an http:// URL"],
  [/^ERR_SSL_|^ERR_TLS_/, "it agrees to no version or cipher of TLS that this program has", "give an http:// URL"],
];

/** Says why `fetch` threw. */
export function explainFailedRequest(error: unknown): FailedRequest {
  const { name, code, message = "" } = ((error as { cause?: unknown }).cause ?? {}) as { name?: string; code?: unknown; message?: string };
  // Some versions of Node give this one no code.
  if (name === "HTTPParserError") {
    const remedy = "give the port of the webhook, and an https:// URL if it speaks TLS";
    return { kind: "impossible", message: `what it answers is not HTTP: ${remedy}` };
  }
  if (typeof code !== "string") {
    // fetch gives this error no code.
    if (message === "bad port")
      return { kind: "impossible", message: "fetch and browsers block this port: let the webhook listen at another one, such as 3000" };
    return { kind: "impossible", message: `the request failed${message === "" ? "" : `: ${message}`}` };
  }
  if (ABSENT.has(code)) return { kind: "absent", message: "nothing listens there" };
  if (BROKEN.has(code)) return { kind: "unanswered", message: `the connection broke off (${code})` };
  const [, problem, remedy] = IMPOSSIBLE.find(([codes]) => codes.test(code)) ?? [];
  return { kind: "impossible", message: problem === undefined ? `the request failed (${code})` : `${problem} (${code}): ${remedy}` };
}
