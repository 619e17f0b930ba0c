import type { Template, TemplateBySlug, TemplateDetail, TemplateVersion } from "@mailsvc/sdk/contract";
import { safeLines, safeText } from "../text/safe-text.ts";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session, Style } from "../types.ts";
import { formatSent } from "./emails.ts";
import type { View } from "./view.ts";

const templateColumns: Column<Template>[] = [
  { title: "id", value: (t) => t.id },
  { title: "slug", value: (t) => t.slug, flexible: true },
  { title: "name", value: (t) => t.name, flexible: true },
  { title: "type", value: (t) => t.type },
  { title: "state", value: state },
  { title: "updated (utc)", value: (t) => formatTimestamp(t.updatedAt), paint: (s, text) => s.dim(text), priority: 1 },
];

type Variable = TemplateDetail["variables"][number];

const versionColumns: Column<TemplateVersion>[] = [
  { title: "version", value: (v) => v.version },
  { title: "", value: (v) => (v.current ? "current" : "") },
  { title: "subject", value: (v) => v.subject, flexible: true },
  { title: "restored from", value: (v) => v.restoredFrom },
  { title: "published (utc)", value: (v) => formatTimestamp(v.createdAt), paint: (s, text) => s.dim(text), priority: 1 },
];

export const templateViews: Readonly<Record<string, View>> = {
  "templates.list": { columns: templateColumns, empty: "No templates yet. Create one: mailsvc templates create --help" },
  "templates.listTransactional": { columns: templateColumns },
  "templates.create": { object: detail },
  "templates.get": { object: detail },
  "templates.update": { object: detail },
  "templates.delete": { object: one },
  "templates.publish": { object: one },
  "templates.rollback": { object: one },
  "templates.archive": { object: one },
  "templates.unarchive": { object: one },
  "templates.versions": { columns: versionColumns },
  "templates.getBySlug": { object: bySlug },
  "templates.send": { object: formatSent },
  "templates.test": { object: formatSent },
};

function state(t: Template): string {
  return t.status === "INACTIVE" ? "inactive" : t.version === null ? "draft" : `v${t.version}${t.hasUnpublishedChanges ? " + draft" : ""}`;
}

function formatFields(t: Template, style: Style): string {
  return renderDetails(
    [
      ["id", t.id],
      ["slug", t.slug],
      ["name", t.name],
      ["description", t.description],
      ["category", t.category],
      ["type", t.kind === "HTML" ? t.type : `${t.type}, ${t.kind}`],
      ["state", state(t)],
      ["revision", t.revision],
      ["created", formatInstant(t.createdAt)],
      ["updated", formatInstant(t.updatedAt)],
      ["published", formatInstant(t.publishedAt)],
    ],
    style,
  );
}

function variableTable(variables: readonly Variable[], { term: { out, columns } }: Session): string {
  return renderTable(
    variables,
    [
      { title: "variable", value: (v) => v.name },
      { title: "type", value: (v) => v.type },
      { title: "required", value: (v) => (v.required ? "yes" : "") },
      { title: "default", value: (v) => v.default, flexible: true },
      { title: "description", value: (v) => v.description, flexible: true },
    ],
    out,
    columns,
  );
}

function detail(t: TemplateDetail, session: Session): string {
  const { out } = session.term;
  return [
    formatFields(t, out),
    renderDetails(
      [
        ["from", t.from],
        ["reply to", t.replyTo && [t.replyTo].flat().join(", ")],
        ["subject", t.source.subject],
        ["layout", t.layout],
      ],
      out,
    ),
    ...(listUsers(t).length > 0 ? [userTable(t, session)] : []),
    ...(t.renderError ? [out.red(safeText(t.renderError))] : []),
    ...(t.variables.length > 0 ? [variableTable(t.variables, session)] : []),
    ...(t.text ? [`${out.bold("Text")}\n${safeLines(t.text)}`] : []),
  ]
    .filter((block) => block !== "")
    .join("\n\n");
}

interface User {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly status?: string;
}

function listUsers({ usedBy: { templates, campaigns, automations } }: TemplateDetail): User[] {
  return [
    ...templates.map((one) => ({ ...one, kind: "template" })),
    ...campaigns.map((one) => ({ ...one, kind: "campaign" })),
    ...automations.map((one) => ({ ...one, kind: "automation" })),
  ];
}

function userTable(t: TemplateDetail, { term: { out, columns } }: Session): string {
  return renderTable(
    listUsers(t),
    [
      { title: "used by", value: (user) => user.id },
      { title: "kind", value: (user) => user.kind },
      { title: "name", value: (user) => user.name, flexible: true },
      { title: "status", value: (user) => user.status?.toLowerCase() },
    ],
    out,
    columns,
  );
}

function bySlug(t: TemplateBySlug, session: Session): string {
  return [
    renderDetails(
      [
        ["slug", t.slug],
        ["name", t.name],
        ["version", t.version],
        ["from", t.from],
        ["subject", t.subject],
      ],
      session.term.out,
    ),
    ...(t.variables.length > 0 ? [variableTable(t.variables, session)] : []),
  ].join("\n\n");
}

function one(t: Template, session: Session): string {
  return formatFields(t, session.term.out);
}
