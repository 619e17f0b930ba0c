import type { EmailRow } from "../emails/emails.ts";
import { count, type Findings, quote } from "../lib/explanation.ts";

/** Findings about one recipient of a mail. */
interface Explained {
  readonly email: Pick<EmailRow, "id" | "to" | "status">;
  readonly findings: Findings;
}

// States in which there is nothing to explain.
const WELL: ReadonlySet<string> = new Set(["sent", "delivered"]);

/** Joins what was found out about the recipients of one mail: how many it reached, and of each of the others why not. */
export function joinRecipients(all: readonly Explained[], subject: string): Findings {
  const byStatus = Map.groupBy(all, ({ email }) => email.status);
  const numbers = [...byStatus].map(([status, own]) => `${own.length} ${status}`).join(", ");
  const troubled = all.filter(({ email }) => !WELL.has(email.status));
  const due = all
    .flatMap(({ findings: { next } }) => (next?.at == null ? [] : [{ at: next.at, what: next.what }]))
    .sort((a, b) => a.at - b.at);
  const [first] = all;
  return {
    id: first?.email.id ?? "",
    kind: "email",
    title: `Email to ${count(all.length, "recipient")}: ${quote(subject)}`,
    status: byStatus.size === 1 && first ? first.email.status : "mixed",
    summary: [
      `Of ${count(all.length, "recipient")}: ${numbers}.`,
      ...troubled.map(({ email, findings }) => `${email.to}: ${findings.summary}`),
    ].join(" "),
    moments: all.flatMap(({ email, findings }, i) =>
      findings.moments
        .slice(i === 0 ? 0 : 1)
        .map((moment, j) => (i === 0 && j === 0 ? moment : { ...moment, what: `${email.to}: ${moment.what}` })),
    ),
    next: due[0] ?? null,
    actions: troubled.map(({ email }) => ({
      what: `See about ${email.to} alone`,
      command: `mailsvc why ${email.id} --recipient ${email.to}`,
    })),
    related: all.flatMap(({ email, findings }) => [email.id, ...(findings.related ?? [])]),
  };
}
