import { type Endpoint, findOtherAt, isForAgents, paramNames } from "@mailsvc/sdk/contract/facts";
import type { Call, LocalFile } from "../types.ts";
import { usageError } from "./errors.ts";
import { describeFile, listFormFields } from "./form.ts";

/** Fills in the parameters of a path in order, percent-encoded. Throws CliError for a value that would lead to another endpoint. */
function fillPath(endpoint: Endpoint, values: readonly string[]): string {
  const names = paramNames(endpoint.path);
  const path = names.reduce((filled: string, name, i) => {
    const value = values[i] ?? "";
    if (value === "" || value === "." || value === "..") throw usageError(`<${name}> must not be "${value}".`);
    if (!value.isWellFormed()) throw usageError(`<${name}> is not valid text.`);
    return filled.replace(`:${name}`, () => encodeURIComponent(value));
  }, endpoint.path);
  const other = findOtherAt(endpoint, path);
  if (other !== null) throw usageError(`"${values[names.length - 1]}" is not a valid <${names.at(-1)}>: that path belongs to ${other}.`);
  return path;
}

/** Builds the call of an endpoint of the contract. */
export function buildCall(endpoint: Endpoint, params: readonly string[], query: Record<string, unknown>, body: unknown): Call {
  return {
    method: endpoint.method,
    path: fillPath(endpoint, params),
    query: query as Call["query"],
    ...(body === undefined ? {} : { body }),
    headers: {},
    withKey: endpoint.access !== "public" && endpoint.access !== "dev",
    ...(isForAgents(endpoint.access) && { forAgent: true }),
    ...(endpoint.access === "operator" && { forOperator: true }),
    ...(endpoint.waitSeconds !== undefined && { waitSeconds: endpoint.waitSeconds }),
  };
}

/** True when a method changes something. */
export function isWrite(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** True when the effect of an endpoint cannot be undone. */
export function isDestructive({ method, irreversible, destructive, access }: Endpoint): boolean {
  return destructive === true || (access !== "dev" && (method === "DELETE" || irreversible === true));
}

/** The absolute URL of a call. */
export function buildUrl(base: string, call: Pick<Call, "path" | "query">): string {
  const query = new URLSearchParams(Object.entries(call.query).map(([name, value]) => [name, String(value)])).toString();
  return `${base}${call.path}${query === "" ? "" : `${call.path.includes("?") ? "&" : "?"}${query}`}`;
}

/** Masks the middle of a key. */
export function maskKey(key: string): string {
  return key.length < 20 ? "…" : `${key.slice(0, 10)}…${key.slice(-4)}`;
}

/** Quotes a text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same request as a curl command; the key comes from the environment. */
function toCurl(base: string, call: Call): string {
  const parts = ["curl", ...(call.method === "GET" ? [] : ["-X", call.method]), shellQuote(buildUrl(base, call))];
  if (call.withKey) parts.push("-H", `"Authorization: Bearer $${getKeyVariable(call)}"`);
  // curl sets the content type of a form itself, because it names the boundary.
  for (const [name, value] of Object.entries(call.file ? call.headers : buildHeaders(call)))
    parts.push("-H", shellQuote(`${name}: ${value}`));
  if (call.file) parts.push(...toCurlForm(call.file, call.body));
  else if (call.body !== undefined) parts.push("--data-raw", shellQuote(JSON.stringify(call.body)));
  return parts.join(" ");
}

/** Returns the output of --dry-run: the request, with the key masked. */
export function describeDryRun(base: string, call: Call, apiKey: string | undefined) {
  return {
    dryRun: true,
    request: {
      method: call.method,
      url: buildUrl(base, call),
      headers: { ...(call.withKey ? { Authorization: `Bearer ${apiKey ? maskKey(apiKey) : "(no key)"}` } : {}), ...buildHeaders(call) },
      ...(call.file
        ? { form: { file: describeFile(call.file), ...listFormFields(call.body) } }
        : call.body === undefined
          ? {}
          : { body: call.body }),
    },
    curl: toCurl(base, call),
  };
}

function getKeyVariable({ forAgent, forOperator }: Call): string {
  return forAgent ? "MAILSVC_AGENT_KEY" : forOperator ? "MAILSVC_OPERATOR_KEY" : "MAILSVC_API_KEY";
}

function buildHeaders(call: Call): Record<string, string> {
  return {
    ...call.headers,
    ...(call.body === undefined ? {} : { "Content-Type": call.file ? "multipart/form-data" : "application/json" }),
  };
}

function toCurlForm({ path, name, type }: LocalFile, body: unknown): string[] {
  return [
    "-F",
    shellQuote(
      `file=@"${path.replaceAll(/["\\]/g, "\\$&")}";filename="${name.replaceAll(/["\\]/g, "\\$&")}"${type === undefined ? "" : `;type=${type}`}`,
    ),
    ...Object.entries(listFormFields(body)).flatMap(([field, value]) =>
      (Array.isArray(value) ? value : [value]).flatMap((one) => ["--form-string", shellQuote(`${field}=${String(one)}`)]),
    ),
  ];
}

/** Parses the path parameters of a call by name; empty when the call is not one of this endpoint. */
export function parsePathParams({ path }: Endpoint, call: { path: string } | undefined): Record<string, string> {
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "([^/]+)")}$`);
  const values = pattern.exec(call?.path ?? "")?.slice(1) ?? [];
  return Object.fromEntries(values.map((value, i) => [paramNames(path)[i] ?? "", decodeURIComponent(value)]));
}
