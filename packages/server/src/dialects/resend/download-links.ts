import { findAttachments, findMail } from "../../emails/emails.ts";
import type { PageResponse } from "../../http/public/public-pages.ts";
import { ApiError, nullIfNotFound } from "../../lib/api-error.ts";
import { HOUR } from "../../lib/units.ts";
import { toPartUuid } from "../../lib/uuids.ts";
import { listAttachments, readAttachment } from "../../received/received.ts";
import type { DialectDeps } from "../deps.ts";
import type { Reads } from "../operation.ts";

// A signature for one purpose is invalid for every other.
const PURPOSE = "resend attachment";
const LIFETIME_MS = HOUR;

/** A file of a mail, as an answer describes it. */
interface File {
  readonly filename: string;
  readonly contentType: string;
  readonly contentId: string | null;
  readonly size: number;
}

/** Location of a file: a sent or a received mail, and the file's number there, from 1. */
interface Place {
  readonly of: "sent" | "received";
  readonly mailId: string;
  readonly number: number;
}

/** A file, and the link by which it is downloaded without a key for an hour. */
export function showFile(file: File, { of, mailId, number }: Place, { deps, workspaceId }: Reads) {
  const expires = deps.clock.now() + LIFETIME_MS;
  const signed = [of, workspaceId, mailId, number, expires].join(".");
  return {
    ...describeFile(file, { mailId, number }),
    // One part of the path, so that recordings and logs leave out all of it.
    download_url: `${deps.baseUrl()}/resend/files/${signed}.${deps.macs.sign(PURPOSE, signed)}`,
    expires_at: new Date(expires).toISOString(),
  };
}

/** A file without a link. */
export function describeFile({ filename, contentType, contentId, size }: File, { mailId, number }: Pick<Place, "mailId" | "number">) {
  return {
    id: toPartUuid(mailId, number),
    filename,
    content_type: contentType,
    content_id: contentId,
    content_disposition: contentId === null ? "attachment" : "inline",
    size,
  };
}

/** Answers a download link with its file. Throws ApiError not_found. */
export async function serveFile(deps: DialectDeps, token: string): Promise<PageResponse> {
  const [, signed = "", signature = ""] = /^(.+)\.([^.]+)$/.exec(token) ?? [];
  const [of, workspaceId = "", mailId = "", number = "", expires = ""] = signed.split(".");
  if (!deps.macs.verify(PURPOSE, signed, signature) || Number(expires) < deps.clock.now())
    throw new ApiError("not_found", "This link has expired, or was cut off. Ask for it again.");
  const file = of === "sent" ? await readSent(deps, workspaceId, mailId, number) : await readReceived(deps, workspaceId, mailId, number);
  if (!file) throw new ApiError("not_found", "This file was deleted.");
  return {
    status: 200,
    headers: [
      // Never shown by the browser itself: the file is what somebody sent.
      ["content-type", "application/octet-stream"],
      ["content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`],
      ["cache-control", "no-store"],
    ],
    body: file.content,
  };
}

interface Content {
  readonly filename: string;
  readonly content: Uint8Array;
}

async function readSent({ db }: DialectDeps, workspaceId: string, mailId: string, number: string): Promise<Content | null> {
  const mail = await findMail(db.read, workspaceId, mailId);
  return (mail && (await findAttachments(db.read, mail.contents))[Number(number) - 1]) ?? null;
}

async function readReceived({ db }: DialectDeps, workspaceId: string, mailId: string, number: string): Promise<Content | null> {
  const listed = await nullIfNotFound(listAttachments(db.read, workspaceId, mailId));
  const file = listed?.data.find((one) => String(one.number) === number);
  return file ? { filename: file.filename, content: await readAttachment(db.read, workspaceId, mailId, number) } : null;
}
