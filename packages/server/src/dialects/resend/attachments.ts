import { contract, type EmailDetail } from "@mailsvc/sdk/contract";
import { findAttachments, findMail } from "../../emails/emails.ts";
import type { PublicPage } from "../../http/public/public-pages.ts";
import { brokenLink, notFound } from "../../lib/api-error.ts";
import { HOUR } from "../../lib/units.ts";
import type { DialectDeps } from "../deps.ts";
import { type Operation, type Reads, readOperation } from "../operation.ts";
import { listQuery } from "./lists.ts";

// A signature for one purpose is invalid for every other.
const PURPOSE = "resend attachment";
const LIFETIME_MS = HOUR;

type File = EmailDetail["attachments"][number];

/** The files of a sent email. Their ids are their places in it, from 1; they are downloaded without a key, for an hour, by a signed link. */
export const attachmentOperations: readonly Operation[] = [
  readOperation({
    path: "/emails/:id/attachments",
    query: listQuery,
    run: async ({ id }, calls) => {
      const email = await calls.read(contract.emails.get, { id });
      return { object: "list", has_more: false, data: email.attachments.map((file, i) => showFile(email.id, file, i + 1, calls)) };
    },
  }),
  readOperation({
    path: "/emails/:id/attachments/:attachment",
    run: async ({ id, attachment }, calls) => {
      const email = await calls.read(contract.emails.get, { id });
      const number = Number(attachment);
      const file = email.attachments[number - 1];
      if (!file) throw notFound("attachment", attachment);
      return { object: "attachment", ...showFile(email.id, file, number, calls) };
    },
  }),
];

/** The page behind a download link. */
export function attachmentPage(deps: DialectDeps): PublicPage {
  return {
    path: "/resend/files/:workspace/:email/:number/:expires/:signature",
    methods: ["GET"],
    serve: async ({ params }) => {
      const { workspace = "", email = "", number = "", expires = "", signature = "" } = params;
      const isSigned = deps.macs.verify(PURPOSE, toSigned(workspace, email, number, expires), signature);
      if (!isSigned || Number(expires) < deps.clock.now()) throw brokenLink("This link has expired, or was cut off.", "Ask for it again.");
      const mail = await findMail(deps.db.read, workspace, email);
      const file = mail && (await findAttachments(deps.db.read, mail.contents))[Number(number) - 1];
      if (!file) throw brokenLink("This file was deleted.", "");
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
    },
  };
}

function showFile(emailId: string, { filename, contentType, contentId, size }: File, number: number, { deps, workspaceId }: Reads) {
  const expires = deps.clock.now() + LIFETIME_MS;
  const signature = deps.macs.sign(PURPOSE, toSigned(workspaceId, emailId, String(number), String(expires)));
  return {
    id: String(number),
    filename,
    content_type: contentType,
    content_id: contentId,
    content_disposition: contentId === null ? "attachment" : "inline",
    size,
    download_url: `${deps.baseUrl()}/resend/files/${workspaceId}/${emailId}/${number}/${expires}/${signature}`,
    expires_at: new Date(expires).toISOString(),
  };
}

function toSigned(...parts: readonly string[]): string {
  return parts.join("/");
}
