// Changes of the API that can break a program which works today: the promise of docs/versions.md, checked against the OpenAPI document of
// each release in test/fixtures/api.

const resolve = (document, value) => {
  if (typeof value?.$ref !== "string") return value;
  return value.$ref
    .slice(2)
    .split("/")
    .reduce((part, name) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], document);
};

const listOperations = (document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, operation })),
  );

/**
 * Compares two OpenAPI documents. Returns a line for each change that can break a program; none when the API only grew.
 *
 * @param today YYYY-MM-DD; a deprecated operation may be gone once its day has come
 */
export function listBreakingChanges(before, after, today) {
  const changes = [];
  const operations = new Map(listOperations(after).map(({ key, operation }) => [key, operation]));
  for (const { key, operation: old } of listOperations(before)) {
    const current = operations.get(key);
    if (current === undefined) {
      if (!hasEnded(old, today)) changes.push(`${key} is gone`);
      continue;
    }
    const say = (text) => changes.push(`${key}: ${text}`);
    compareParameters(before, after, old, current, say);
    const [oldBody, body] = [old, current].map((one, i) => resolve([before, after][i], one.requestBody));
    if (body?.required && !oldBody?.required) say("a body is required now");
    for (const [type, { schema }] of Object.entries(oldBody?.content ?? {})) {
      const now = body?.content?.[type];
      if (now === undefined) say(`takes no ${type} any more`);
      else compareInput({ before, after, say, seen: new Set() }, schema, now.schema, "body");
    }
    for (const [status, given] of Object.entries(old.responses)) {
      if (!status.startsWith("2")) continue;
      const [was, now] = [resolve(before, given), resolve(after, current.responses[status])];
      if (now === undefined) say(`does not answer ${status} any more`);
      else
        for (const [type, { schema }] of Object.entries(was.content ?? {})) {
          if (now.content?.[type] === undefined) say(`answers no ${type} any more`);
          else compareOutput({ before, after, say, seen: new Set() }, schema, now.content[type].schema, "answer");
        }
    }
  }
  return changes;
}

/** True once the day that a deprecated operation was announced to be gone from has come. */
const hasEnded = ({ deprecated, description = "" }, today) => {
  const [, sunset] = /gone from (\d{4}-\d{2}-\d{2})/.exec(description) ?? [];
  return deprecated === true && sunset !== undefined && sunset <= today;
};

function compareParameters(before, after, old, current, say) {
  const read = (document, { parameters = [] }) =>
    new Map(parameters.map((one) => resolve(document, one)).map((one) => [`${one.in} ${one.name}`, one]));
  const [was, now] = [read(before, old), read(after, current)];
  for (const [name, one] of was) {
    const same = now.get(name);
    if (same === undefined) say(`the parameter ${name} is gone`);
    else compareInput({ before, after, say, seen: new Set() }, one.schema, same.schema, name);
    if (same?.required && !one.required) say(`the parameter ${name} is required now`);
  }
  for (const [name, { required }] of now) if (required && !was.has(name)) say(`the parameter ${name} is required and new`);
}

/** Anything that was accepted is accepted still. */
function compareInput(context, was, now, name) {
  walk(context, was, now, name, (old, current, where) => {
    const { say } = context;
    for (const name of Object.keys(old.properties ?? {}))
      if (current.properties?.[name] === undefined) say(`${where}.${name} is not accepted any more`);
    for (const name of current.required ?? []) if (!(old.required ?? []).includes(name)) say(`${where}.${name} is required now`);
    if (Array.isArray(current.enum))
      for (const value of old.enum ?? ["any value"]) if (!current.enum.includes(value)) say(`${where} does not accept ${value} any more`);
    for (const [limit, isNarrower] of Object.entries(NARROWER))
      if (current[limit] !== undefined && (old[limit] === undefined || isNarrower(old[limit], current[limit])))
        say(`${where} has another ${limit}`);
    const types = [current.type ?? []].flat();
    for (const type of [old.type ?? []].flat())
      if (types.length > 0 && !types.includes(type)) say(`${where} does not accept ${type} any more`);
  });
}

const NARROWER = {
  maxLength: (was, now) => now < was,
  maxItems: (was, now) => now < was,
  maximum: (was, now) => now < was,
  minLength: (was, now) => now > was,
  minItems: (was, now) => now > was,
  minimum: (was, now) => now > was,
};

/** Anything that was in an answer is there still, of the same type. New fields and new values of an enumeration may come. */
function compareOutput(context, was, now, name) {
  walk(context, was, now, name, (old, current, where) => {
    const { say } = context;
    for (const name of Object.keys(old.properties ?? {})) if (current.properties?.[name] === undefined) say(`${where}.${name} is gone`);
    for (const name of old.required ?? [])
      if (current.properties?.[name] !== undefined && !(current.required ?? []).includes(name)) say(`${where}.${name} may be missing now`);
    const types = [old.type ?? []].flat();
    for (const type of [current.type ?? []].flat()) if (types.length > 0 && !types.includes(type)) say(`${where} may be ${type} now`);
  });
}

/** Compares two schemas and all within them, each pair of named ones once. */
function walk(context, was, now, where, compare) {
  const { before, after, seen } = context;
  const pair = `${was?.$ref} ${now?.$ref}`;
  if (was?.$ref !== undefined) {
    if (seen.has(pair)) return;
    seen.add(pair);
  }
  const [old, current] = [resolve(before, was), resolve(after, now)];
  if (typeof old !== "object" || typeof current !== "object" || old === null || current === null) return;
  compare(old, current, where);
  for (const [name, inner] of Object.entries(old.properties ?? {}))
    if (current.properties?.[name] !== undefined) walk(context, inner, current.properties[name], `${where}.${name}`, compare);
  if (old.items && current.items) walk(context, old.items, current.items, `${where}[]`, compare);
  for (const kind of ["anyOf", "oneOf"]) {
    const [some, others] = [old[kind] ?? [], current[kind] ?? []];
    // Alternatives are compared in their order; one that is gone, of a request, is named.
    for (const [i, inner] of some.entries()) if (others[i] !== undefined) walk(context, inner, others[i], where, compare);
    if (others.length < some.length) context.say(`${where} has fewer alternatives`);
  }
}
