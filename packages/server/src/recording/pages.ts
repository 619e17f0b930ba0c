import { hash } from "node:crypto";
import { buildMailPolicy, renderMailHtml } from "../dashboard/dashboard.ts";
import type { DevPage } from "../http/public/dev-pages.ts";
import { type MailParser, readCapturedMail } from "../inbound/inbound.ts";
import { notFound } from "../lib/api-error.ts";
import { renderRecording, STYLE } from "./page.ts";
import { linesOf, type Recording } from "./read.ts";

// No scripts, nothing from elsewhere, and no page may frame it.
const POLICY = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The pages of a recording: all of it at `/`, and each mail as HTML or source. */
export function recordingPages(recording: Recording, parser: MailParser): readonly DevPage[] {
  const mails = linesOf(recording, "mail");
  const find = (position = ""): string => {
    const mail = /^\d{1,6}$/.test(position) ? mails[Number(position)] : undefined;
    if (!mail) throw notFound("mail", position);
    return mail.raw;
  };
  const html = renderRecording(recording);
  return [
    { path: "/", serve: async () => ({ type: "text/html; charset=utf-8", body: html, headers: [["content-security-policy", POLICY]] }) },
    {
      path: "/mail/:position",
      serve: async ({ position }) => {
        const { html: shown, files } = await readCapturedMail(parser, Buffer.from(find(position), "latin1"));
        return {
          type: "text/html; charset=utf-8",
          body: renderMailHtml({ html: shown, attachments: files }),
          headers: [["content-security-policy", buildMailPolicy(false)]],
        };
      },
    },
    {
      path: "/mail/:position/source",
      serve: async ({ position }) => ({
        type: "text/plain; charset=utf-8",
        body: Buffer.from(find(position), "latin1"),
        headers: [["content-security-policy", "sandbox; default-src 'none'"]],
      }),
    },
  ];
}
