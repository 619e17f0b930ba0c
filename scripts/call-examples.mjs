// One call of each endpoint, as the reference shows it: with curl, with the SDK and as a command, all from the contract's example.
import { agentContract, contract, isForAgents, paramNames } from "@mailsvc/sdk/contract";
import { listCommandSpecs } from "../packages/cli/src/contract/command-map.ts";
import { formatCommandLine } from "../packages/cli/src/contract/examples.ts";
import { listFields } from "../packages/cli/src/contract/fields.ts";

const WIDTH = 100;
const commands = new Map(listCommandSpecs().map((spec) => [spec.id, spec]));

/**
 * The blocks of an endpoint by their labels; `id` is its noun and verb. Without a method of the SDK, or a command, there is no block of it.
 */
export function callExamples(id, endpoint) {
  const example = endpoint.examples?.[0] ?? {};
  const params = paramNames(endpoint.path).map((name) => [name, example.params?.[name] ?? `<${name}>`]);
  return [
    ["sh", "curl", curlOf(endpoint, { ...example, params: Object.fromEntries(params) })],
    ["ts", "SDK", sdkOf(id, endpoint, example, params)],
    ["sh", "Command line", commandOf(id, endpoint, { ...example, params: Object.fromEntries(params) })],
  ]
    .filter(([, , text]) => text !== null)
    .flatMap(([language, label, text]) => [`\`\`\`${language} [${label}]`, text, "```", ""]);
}

function curlOf({ method, path, access, errors = [] }, { params, query, body }) {
  const filled = path.replace(/:(\w+)/g, (_, name) => params[name]);
  const search = new URLSearchParams(Object.entries(query ?? {}).map(([name, value]) => [name, String(value)])).toString();
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} "$MAILSVC_URL${filled}${search === "" ? "" : `?${search}`}"`,
    access !== "public" && access !== "dev" && `  -H "Authorization: Bearer $${keyFor(access)}"`,
    errors.includes("idempotency_key_required") && '  -H "Idempotency-Key: your-unique-key"',
    body !== undefined && '  -H "Content-Type: application/json"',
    body !== undefined && `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ]
    .filter(Boolean)
    .join(" \\\n");
}

const keyFor = (access) => (access === "operator" ? "MAILSVC_OPERATOR_KEY" : isForAgents(access) ? "MAILSVC_AGENT_KEY" : "MAILSVC_API_KEY");

/** A call of `Mailsvc`, or of `AgentClient`, which knows its activation. */
function sdkOf(id, { access, stream, query: schema }, { query, body }, params) {
  const [noun, verb] = [id.slice(0, id.lastIndexOf(".")), id.slice(id.lastIndexOf(".") + 1)];
  const agents = isForAgents(access);
  const known = agents ? agentContract[noun.replace(/^agent\./, "")] : contract[noun];
  if (!known?.[verb]) return null;
  const named = params.filter(([name]) => !(agents && name === "activationId")).map(([, value]) => value);
  const values = [...named, ...[query ? withFlags(query, schema) : body].filter((input) => input !== undefined)];
  const call = `${agents ? id : `client.${id}`}(${values.map((value) => literal(value)).join(", ")})`;
  return stream ? `for await (const event of ${call}) console.log(event);` : `await ${call};`;
}

/** A query with its flags, which are words in an address, as booleans. */
function withFlags(query, schema) {
  const parsed = schema.parse(query);
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, typeof parsed[name] === "boolean" ? parsed[name] : value]));
}

/** A value as TypeScript, on one line where it fits. */
function literal(value, indent = "") {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const list = Array.isArray(value);
  const inner = `${indent}  `;
  const nameOf = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
  const parts = list
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, item]) => `${nameOf(name)}: ${literal(item, inner)}`);
  if (parts.length === 0) return list ? "[]" : "{}";
  const line = list ? `[${parts.join(", ")}]` : `{ ${parts.join(", ")} }`;
  if (!line.includes("\n") && indent.length + line.length <= WIDTH) return line;
  const [open, close] = list ? "[]" : "{}";
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${close}`;
}

function commandOf(id, endpoint, example) {
  const spec = commands.get(id);
  if (!spec || spec.hidden || spec.coveredBy) return null;
  return `npx ${formatCommandLine(spec, listFields(endpoint), example)}`;
}
