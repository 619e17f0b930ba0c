import { brokenLink } from "../lib/api-error.ts";
import { SealBroken } from "../lib/seal.ts";
import type { UnsubscribeDeps } from "./deps.ts";

/** Person whom a link unsubscribes, the workspace that sent the mail, and the email with the link. */
export interface Subscriber {
  readonly workspaceId: string;
  readonly email: string;
  /** Absent for a link that is not in its own email. */
  readonly emailId?: string | undefined;
}

type LinkDeps = Pick<UnsubscribeDeps, "seal" | "baseUrl">;

const PURPOSE = "link:unsubscribe";

// A token holds two ids and an address of at most 254 characters.
const MAX_TOKEN = 1000;

/**
 * The link that unsubscribes an address from the marketing mail of a workspace. It does not expire, and works after the
 * contact and the email were deleted. The address in it is encrypted and authenticated. The same input gives the same link.
 */
export function makeUnsubscribeUrl({ seal, baseUrl }: LinkDeps, { workspaceId, email, emailId }: Subscriber): string {
  const text = [workspaceId, ...(emailId === undefined ? [] : [emailId]), email].join(" ");
  return `${getUnsubscribePrefix({ baseUrl })}${Buffer.from(seal.sealSame(text, PURPOSE)).toString("base64url")}`;
}

/**
 * The subject of a mail that unsubscribes: it holds the token of the link, because an address has no room for it. So the mail works after
 * the email was deleted.
 */
export function makeUnsubscribeSubject(url: string): string {
  return `unsubscribe ${url.slice(url.lastIndexOf("/") + 1)}`;
}

/** Reads the person from such a subject, also with prefixes and line breaks that a mail program put in; null for another subject. */
export function readUnsubscribeSubject({ seal }: Pick<LinkDeps, "seal">, subject: string): Subscriber | null {
  const token =
    subject
      .split(/unsubscribe\s/i)
      .at(-1)
      ?.replace(/\s/g, "") ?? "";
  try {
    return readToken(seal, token);
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}

/** Returns the common beginning of all these links. */
export function getUnsubscribePrefix({ baseUrl }: Pick<LinkDeps, "baseUrl">): string {
  return `${baseUrl()}/unsubscribe/`;
}

/** Throws ApiError not_found for a token that was not made by this server. */
export function openToken({ seal }: Pick<LinkDeps, "seal">, token: string): Subscriber {
  try {
    return readToken(seal, token);
  } catch (error) {
    if (error instanceof SealBroken) throw brokenLink("linkIncomplete");
    throw error;
  }
}

/** Throws SealBroken. */
function readToken(seal: LinkDeps["seal"], token: string): Subscriber {
  const sealed = Buffer.from(token.slice(0, MAX_TOKEN), "base64url");
  // Only the address may contain spaces, and only between quotes.
  const [workspaceId = "", ...rest] = seal.open(sealed, PURPOSE).split(" ");
  const emailId = rest.length > 1 && /^em_[0-9a-z]{26}$/.test(rest[0] as string) ? rest.shift() : undefined;
  return { workspaceId, email: rest.join(" "), emailId };
}
