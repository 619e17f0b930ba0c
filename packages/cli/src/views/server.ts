import type { Job, Key, MailsvcContract, Output } from "@mailsvc/sdk/contract";
import { safeText } from "../text/safe-text.ts";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const keyColumns: Column<Key>[] = [
  { title: "id", value: (k) => k.id },
  { title: "name", value: (k) => k.name, flexible: true },
  { title: "key", value: (k) => k.preview },
  { title: "permissions", value: permissions, flexible: true },
  {
    title: "last used (utc)",
    value: (k) => (k.lastUsedAt ? formatTimestamp(k.lastUsedAt) : "never"),
    paint: (s, t) => s.dim(t),
    priority: 1,
  },
  {
    title: "state",
    value: formatKeyState,
    paint: (s, t) => (t === "live" || t.startsWith("until") ? s.green(t) : s.dim(t)),
  },
];

function formatKeyState({ state, expiresAt }: Key): string {
  if (state !== "active") return state === "expired" && expiresAt ? `expired on ${expiresAt.slice(0, 10)}` : state;
  return expiresAt ? `until ${expiresAt.slice(0, 10)}` : "live";
}

const jobColumns: Column<Job>[] = [
  { title: "id", value: (j) => j.id },
  { title: "kind", value: (j) => j.kind },
  { title: "state", value: (j) => j.state, paint: paintStatus },
  { title: "attempts", value: (j) => `${j.attempts}/${j.maxAttempts}` },
  { title: "runs (utc)", value: (j) => formatTimestamp(j.runAt), paint: (s, t) => s.dim(t) },
  { title: "last error", value: (j) => j.lastError, flexible: true },
];

type Link = Output<MailsvcContract["dashboard"]["link"]>;

/** The address on its own line, to be clicked or copied. */
function link({ url, role, name, expiresAt }: Link, { term: { out } }: Session): string {
  return `${out.bold(safeText(url))}\n${out.dim(`Signs ${name === null ? "one browser" : safeText(name)} in as ${role}, once, until ${formatInstant(expiresAt)}.`)}`;
}

type Member = Output<MailsvcContract["members"]["invite"]>;

const memberColumns: Column<Member>[] = [
  { title: "address", value: (m) => m.email, flexible: true },
  { title: "name", value: (m) => m.name },
  { title: "role", value: (m) => m.role },
  { title: "signed in (utc)", value: (m) => (m.lastSignInAt ? formatTimestamp(m.lastSignInAt) : "invited"), paint: (s, t) => s.dim(t) },
  { title: "browsers", value: (m) => String(m.sessions) },
];

function formatMember(member: Member, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", member.id],
      ["address", member.email],
      ["name", member.name],
      ["role", member.role],
      ["invited by", member.invitedBy],
      ["invited", formatInstant(member.createdAt)],
      ["signed in", formatInstant(member.lastSignInAt)],
      ["browsers", String(member.sessions)],
    ],
    out,
    columns,
  );
}

type DashboardSession = Output<MailsvcContract["dashboard"]["signOut"]>;

const sessionColumns: Column<DashboardSession>[] = [
  { title: "id", value: (s) => s.id },
  { title: "person", value: (s) => s.name ?? s.email, flexible: true },
  { title: "role", value: (s) => s.role },
  { title: "by", value: (s) => s.way },
  { title: "last seen (utc)", value: (s) => formatTimestamp(s.lastSeenAt), paint: (s, t) => s.dim(t) },
];

type MailState = Output<MailsvcContract["mailStates"]["list"]>["data"][number];

const mailStateColumns: Column<MailState>[] = [
  { title: "id", value: (m) => m.id },
  { title: "to", value: (m) => m.to, flexible: true },
  { title: "state", value: (m) => m.status, paint: paintStatus },
  { title: "accepted (utc)", value: (m) => formatTimestamp(m.createdAt), paint: (s, t) => s.dim(t) },
  { title: "last error", value: (m) => m.lastError?.message, flexible: true },
];

type Workspace = Output<MailsvcContract["workspaces"]["update"]>;

const workspaceColumns: Column<Workspace>[] = [
  { title: "id", value: (w) => w.id },
  { title: "name", value: (w) => w.name, flexible: true },
  { title: "created (utc)", value: (w) => formatTimestamp(w.createdAt), paint: (s, t) => s.dim(t) },
];

const exportColumns: Column<Output<MailsvcContract["workspaces"]["export"]>["data"][number]>[] = [
  { title: "table", value: ({ table }) => table },
  { title: "row", value: ({ row }) => JSON.stringify(row), flexible: true },
];

export const serverViews: Readonly<Record<string, View>> = {
  "keys.list": { columns: keyColumns },
  "keys.create": { object: created },
  "keys.update": { object: formatKey },
  "keys.revoke": { object: formatKey },
  "jobs.list": { columns: jobColumns },
  "me.get": { object: me },
  "dashboard.link": { object: link },
  "dashboard.sessions": { columns: sessionColumns },
  "members.list": { columns: memberColumns },
  "members.invite": { object: formatMember },
  "members.setRole": { object: formatMember },
  "members.remove": { object: formatMember },
  "mailStates.list": { columns: mailStateColumns },
  "workspaces.list": { columns: workspaceColumns },
  "workspaces.create": { object: createdWorkspace },
  "workspaces.export": { columns: exportColumns },
};

function createdWorkspace({ id, name, apiKey }: Output<MailsvcContract["workspaces"]["create"]>, { term: { out } }: Session): string {
  const fields = renderDetails(
    [
      ["id", id],
      ["name", name],
    ],
    out,
  );
  return `${fields}\n\n${safeText(apiKey)}\n${out.dim("The owner key. Store it now. It is not shown again.")}`;
}

function permissions(key: Key): string {
  return key.owner ? "everything (owner)" : key.permissions.join(", ");
}

function formatKey(key: Key, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", key.id],
      ["name", key.name],
      ["key", key.preview],
      ["may", permissions(key)],
      ["senders", key.senders?.join(", ")],
      ["networks", key.networks?.join(", ")],
      ["created", formatInstant(key.createdAt)],
      ["last used", formatInstant(key.lastUsedAt)],
      [key.state === "expired" ? "expired" : "expires", formatInstant(key.expiresAt)],
      ["revoked", formatInstant(key.revokedAt)],
    ],
    out,
    columns,
  );
}

function created(key: Key & { key: string }, session: Session): string {
  return `${formatKey({ ...key, preview: "" }, session)}\n\n${safeText(key.key)}\n${session.term.out.dim("Store it now. It is not shown again.")}`;
}

function me(m: Output<MailsvcContract["me"]["get"]>, session: Session): string {
  const settings = session.settings();
  return renderDetails(
    [
      ["workspace", `${m.workspace.name} (${m.workspace.id})`],
      ["key", `${m.key.name}, ${m.key.preview}`],
      ["may", permissions(m.key)],
      ["server", `${settings.url}, version ${m.server.version}${m.server.dev ? ", dev mode" : ""}`],
      ["mailer", m.server.mailer],
      ["server time", formatInstant(m.server.now)],
      ["profile", settings.profile],
    ],
    session.term.out,
  );
}
