import { CALENDAR_LIMITS } from "@mailsvc/sdk/contract";
import type { MessageReading } from "./emails/deps.ts";
import { findAttachments, findMail, getEmail } from "./emails/emails.ts";
import type { MailSources } from "./lint/handlers.ts";
import { readVariables, toMailToLint, WHOLE_MAIL } from "./lint-sources.ts";
import { listNamedParts } from "./templates/compiled-set.ts";
import { renderSources } from "./templates/sending.ts";
import { DRAFT, findTemplateBySlug } from "./templates/store.ts";
import { getTemplateRow, getVersionRow } from "./templates/templates.ts";

/** The media type of an invitation. */
const CALENDAR = /^text\/calendar *;.*\bmethod=/i;

/** Mail of other modules that lint can check. */
export const MAIL_SOURCES: MailSources<MessageReading> = {
  template: async (read, workspaceId, name) => {
    const row =
      (await (/^tpl_/.test(name) ? null : findTemplateBySlug(read, workspaceId, name))) ?? (await getTemplateRow(read, workspaceId, name));
    const { subject, html, text, layout, variables } = await getVersionRow(read, row, DRAFT);
    const mail = await toMailToLint({ subject, html, text, layout, declared: variables, type: row.type });
    if (listNamedParts({ html, text, layout }).length === 0 || mail.faults.length > 0) return mail;
    // Defaults are left out, so that every variable keeps its placeholder.
    const declare = variables.map(({ default: _, ...one }) => one);
    const rendered = await renderSources(read, workspaceId, { type: row.type, subject, html, text: text ?? undefined, layout, declare });
    const used = (await readVariables([["html", rendered.html]])).used;
    return {
      ...mail,
      html: rendered.html,
      isWhole: row.type !== "partial",
      isRendered: true,
      variables: mail.variables && { ...mail.variables, used: [...mail.variables.used, ...used] },
    };
  },
  email: async (read, deps, workspaceId, id) => {
    const { subject, html, text, attachments } = await getEmail(read, deps, workspaceId, id);
    const place = attachments.findIndex(({ contentType, size }) => CALENDAR.test(contentType) && size <= CALENDAR_LIMITS.content);
    const mail = place === -1 ? null : await findMail(read, workspaceId, id);
    const file = mail && (await findAttachments(read, mail.contents))[place];
    const calendar = file ? new TextDecoder().decode(file.content) : null;
    return { ...WHOLE_MAIL, subject, html, text, calendar, type: "transactional", wasSent: true };
  },
  given: async (mail) => ({ ...WHOLE_MAIL, ...mail }),
};
