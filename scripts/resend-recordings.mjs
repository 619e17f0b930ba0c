// Sends the requests of recordings of Resend's own API to a server of this project, and compares the answers: status, fields, types and
// values. Recordings are HAR files, such as those that resend-node's tests keep. Each file gets a server of its own.
//
//   node scripts/resend-recordings.mjs FOLDER
//
// Ids, times and secrets differ by nature, so only their kinds are compared; of a list it is the types of its first item. Differences in
// the words of errors are printed, and do not fail the run.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import "./sources.mjs";

const { createWorld } = await import("../packages/server/src/testing.ts");

const [root] = process.argv.slice(2);
if (root === undefined || !statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
  console.error("Usage: node scripts/resend-recordings.mjs FOLDER\nFOLDER holds recordings of Resend's API as .har files, in any depth.");
  process.exit(2);
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".har"))
  .sort();

const ID_FIELD = /(?:^|_)ids?$/;
const SECRET_FIELD = /^(?:token|signing_secret|download_url)$/;

/** Differences of all answers, each with the requests that showed it. */
const differences = new Map();
let requests = 0;
for (const file of files) requests += await replay(join(root, file));

const words = [...differences].filter(([difference]) => difference.includes(" message: "));
const others = [...differences].filter(([difference]) => !difference.includes(" message: "));
for (const [difference, count] of [...others, ...words]) console.log(`${String(count).padStart(4)}  ${difference}`);
console.log(`${files.length} recordings, ${requests} requests: ${others.length} differences, and ${words.length} in words.`);
process.exit(others.length === 0 ? 0 : 1);

/** Replays one recording; gives the number of its requests. */
async function replay(file) {
  const { entries } = JSON.parse(readFileSync(file, "utf8")).log;
  const inOrder = entries.toSorted((a, b) => Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime));
  await using world = await createWorld({ dev: true });
  /** The ids of our answers, by those of the recording. */
  const ids = new Map();
  for (const { request, response } of inOrder) {
    const { pathname, search } = new URL(request.url);
    const rename = (text) => [...ids].reduce((renamed, [theirs, ours]) => renamed.replaceAll(theirs, ours), text);
    const sent = request.postData?.text;
    const answer = await world.fetch(`${world.url}/resend${rename(pathname + search)}`, {
      method: request.method,
      headers: { authorization: "Bearer re_recorded", ...(sent && { "content-type": "application/json" }) },
      ...(sent && { body: rename(sent) }),
    });
    const operation = `${request.method} ${pathname.replaceAll(/\/[^/]*[\d@%][^/]*/g, "/:id")}`;
    const note = (path, difference) => {
      const whole = `${operation} ${path}: ${difference}`;
      differences.set(whole, (differences.get(whole) ?? 0) + 1);
    };
    if (answer.status !== response.status) note("status", `${response.status} there, ${answer.status} here`);
    compare(JSON.parse(response.content.text ?? "null"), await answer.json(), "body", { ids, note, typesOnly: false });
    await world.settle();
  }
  return inOrder.length;
}

function compare(theirs, ours, path, context) {
  const name = path.split(".").at(-1);
  const { ids, note, typesOnly } = context;
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    if (theirs.length > 0 && ours.length > 0) compare(theirs[0], ours[0], `${path}[]`, { ...context, typesOnly: true });
    return;
  }
  if (isObject(theirs) && isObject(ours)) {
    for (const field of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
      if (!(field in ours)) note(`${path}.${field}`, "missing here");
      else if (!(field in theirs)) note(`${path}.${field}`, "not there");
      else compare(theirs[field], ours[field], `${path}.${field}`.replace(/^body\./, ""), context);
    }
    return;
  }
  if (ID_FIELD.test(name) && typeof theirs === "string" && typeof ours === "string") ids.set(theirs, ours);
  const [there, here] = typesOnly ? [typeof theirs, typeof ours] : [describe(name, theirs), describe(name, ours)];
  if (there !== here) note(path, `${there} there, ${here} here`);
}

/** A value as it is compared: of ids, times and secrets the kind. */
function describe(name, value) {
  if (typeof value !== "string") return JSON.stringify(value);
  if (SECRET_FIELD.test(name)) return "a secret";
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return "a UUID";
  if (/_at$/.test(name)) return "a time";
  return JSON.stringify(value);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
