import { Instant, type SendRequest, Tags } from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";
import type { HeaderField } from "../mail/message-head.ts";

/** A header that sets a field, and what reads its value, null without it. Throws ApiError invalid_header. */
interface FieldHeader {
  readonly header: string;
  read(text: string | null, header: string): unknown;
}

/** The headers that set fields of a send, by the name of the field in the API. `template` takes the place of the content. */
const FIELDS = {
  template: { header: "X-Mailsvc-Template", read: (slug: string | null) => slug },
  variables: { header: "X-Mailsvc-Variables", read: readVariables },
  scheduledAt: { header: "X-Mailsvc-Send-At", read: readInstant },
  bypassUnsubscribe: { header: "X-Mailsvc-Bypass-Unsubscribe", read: readFlag },
} as const satisfies Readonly<Partial<Record<keyof SendRequest | "template" | "variables", FieldHeader>>>;
type FieldName = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];

/** Instructions for this server in the headers of a message. None of them goes out. */
export type Instructions = Readonly<{ [Field in FieldName]: ReturnType<(typeof FIELDS)[Field]["read"]> }> & {
  readonly idempotencyKey: string | null;
  readonly tags: Readonly<Record<string, string>>;
};

/** The headers, by the fields that they set. */
export const FIELD_HEADERS = Object.fromEntries(FIELD_NAMES.map((name) => [name, FIELDS[name].header])) as Record<FieldName, string>;

const OWN = "x-mailsvc-";
const TAG = `${OWN}tag-`;

// Headers of other services whose users change only the address of the server; what this one has no use for is dropped.
const READ =
  /^(?:idempotency-key|resend-idempotency-key|x-tags?|x-metadata-.+|x-pm-(?:tag|metadata-.+|message-stream)|x-ses-(?:message-tags|configuration-set)|x-mailsvc-.+)$/;

// Headers that nobody receives, or that the delivering server writes.
const DROPPED = /^(?:bcc|resent-bcc|return-path)$/;

// More than a mail may have, so that a header with more is refused.
const MAX_LISTED = 1000;

const KEY = /^[\x21-\x7e]{1,255}$/;

/** True for a header that does not go out. */
export function isStripped({ key }: HeaderField): boolean {
  return READ.test(key) || DROPPED.test(key);
}

/** Reads the headers that are for this server; `decode` decodes encoded words. Throws ApiError validation_error. */
export function readInstructions(fields: readonly HeaderField[], decode: (value: string) => string): Instructions {
  const read = fields.filter(({ key }) => READ.test(key)).map((field) => ({ ...field, value: toText(decode(field.value)) }));
  const find = (key: string): string | null => read.find((field) => field.key === key)?.value ?? null;
  const readField = (name: FieldName): unknown => {
    const { header, read: toValue }: FieldHeader = FIELDS[name];
    return toValue(find(header.toLowerCase()), header);
  };
  for (const { key, name } of read) if (key.startsWith(OWN) && !isKnown(key)) throw unknown(name);
  return {
    idempotencyKey: readKey(find("idempotency-key") ?? find("resend-idempotency-key")),
    tags: readTags(read),
    ...(Object.fromEntries(FIELD_NAMES.map((name) => [name, readField(name)])) as Pick<Instructions, FieldName>),
  };
}

function isKnown(key: string): boolean {
  return (key.startsWith(TAG) && key !== TAG) || Object.values(FIELD_HEADERS).some((header) => header.toLowerCase() === key);
}

function unknown(name: string): Error {
  const known = ["X-Mailsvc-Tag-NAME", ...Object.values(FIELD_HEADERS)];
  return invalid(name, "unknown_header", `${name} is not known. There are ${known.slice(0, -1).join(", ")} and ${known.at(-1)}.`);
}

function readKey(value: string | null): string | null {
  if (value === null || KEY.test(value)) return value;
  throw invalid("Idempotency-Key", "invalid_header", "Idempotency-Key must be 1 to 255 visible ASCII characters.");
}

function readTags(fields: readonly HeaderField[]): Readonly<Record<string, string>> {
  const tags: Record<string, string> = {};
  let unnamed = 0;
  const add = (value: string): void => {
    if (value === "") return;
    unnamed += 1;
    tags[unnamed === 1 ? "tag" : `tag.${unnamed}`] = value;
  };
  for (const { key, name, value } of fields) {
    if (key === "x-tag" || key === "x-pm-tag") add(value);
    else if (key === "x-tags") for (const one of value.split(",", MAX_LISTED)) add(one.trim());
    else if (key === "x-ses-message-tags") for (const pair of value.split(",", MAX_LISTED)) Object.assign(tags, readPair(name, pair));
    else {
      const named = /^(?:x-metadata-|x-pm-metadata-|x-mailsvc-tag-)(.+)$/i.exec(name)?.[1];
      if (named !== undefined) tags[named] = value;
    }
  }
  if (Object.keys(tags).length === 0) return tags;
  const checked = Tags.safeParse(tags);
  if (checked.success) return checked.data;
  const [fault] = checked.error.issues;
  throw invalid("tags", "invalid_tag", `The tag ${fault?.path.join(".") ?? ""} in the headers cannot be used: ${fault?.message ?? ""}`);
}

function readPair(header: string, pair: string): Record<string, string> {
  const equals = pair.indexOf("=");
  const name = pair.slice(0, Math.max(0, equals)).trim();
  if (name === "") throw invalid(header, "invalid_header", `${header} takes name=value, several with commas.`);
  return { [name]: pair.slice(equals + 1).trim() };
}

function readVariables(text: string | null, header: string): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The same answer as for another kind of JSON.
  }
  throw invalid(header, "invalid_header", `${header} takes a JSON object, such as {"name":"Ada"}.`);
}

function readInstant(text: string | null, header: string): string | undefined {
  if (text === null) return undefined;
  const parsed = Instant.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid(header, "invalid_header", `${header} takes an instant such as 2030-01-31T09:00:00Z.`);
}

function readFlag(text: string | null, header: string): boolean {
  if (text === null || /^(?:no|false|0)$/i.test(text)) return false;
  if (/^(?:yes|true|1)$/i.test(text)) return true;
  throw invalid(header, "invalid_header", `${header} takes yes or no.`);
}

/** A header value as it is stored: in one line. */
function toText(value: string): string {
  return value
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}
