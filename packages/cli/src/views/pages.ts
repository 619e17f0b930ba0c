import type {
  LandingPage,
  LandingPageStats,
  LandingPageSubmission,
  LandingPageSummary,
  ListMetadata,
  SignUpForm,
  WrittenLandingPage,
} from "@mailsvc/sdk/contract";
import { type Column, renderDetails, renderTable } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

const pageColumns: Column<LandingPageSummary>[] = [
  { title: "id", value: (p) => p.id },
  { title: "title", value: (p) => p.title, flexible: true },
  { title: "state", value: (p) => p.status, paint: (style, text) => (text === "PUBLISHED" ? style.green(text) : style.yellow(text)) },
  { title: "form", value: (p) => (p.hasForm ? "yes" : "no"), priority: 2 },
  { title: "changed (utc)", value: (p) => formatTimestamp(p.updatedAt), priority: 1 },
];

const ofBrand = page("landing-pages");
const ofAgent = page("agent landing-pages");

const submissionColumns: Column<LandingPageSubmission>[] = [
  { title: "contact", value: (s) => s.contactId },
  { title: "agreed to", value: (s) => s.consentText, flexible: true },
  { title: "list", value: (s) => s.listId, priority: 1 },
  { title: "when (utc)", value: (s) => formatTimestamp(s.createdAt) },
];

const listColumns: Column<ListMetadata>[] = [
  { title: "id", value: (l) => l.id },
  { title: "name", value: (l) => l.name, flexible: true },
  { title: "contacts", value: (l) => l.contactCount },
  { title: "about", value: (l) => l.description, flexible: true, priority: 1 },
];

const formColumns: Column<SignUpForm>[] = [
  { title: "id", value: (f) => f.id },
  { title: "name", value: (f) => f.name, flexible: true },
  { title: "state", value: (f) => f.status, paint: (style, text) => (text === "PUBLISHED" ? style.green(text) : style.yellow(text)) },
  { title: "list", value: (f) => f.listId, priority: 1 },
  { title: "changed (utc)", value: (f) => formatTimestamp(f.updatedAt), priority: 2 },
];

export const pageViews: Readonly<Record<string, View>> = {
  "forms.list": { columns: formColumns, empty: "No forms yet. Create one: mailsvc forms create --help" },
  "forms.create": { object: form },
  "forms.get": { object: form },
  "forms.update": { object: form },
  "forms.delete": {
    object: (f: SignUpForm, { term: { out } }: Session) =>
      renderDetails(
        [
          ["deleted", f.id],
          ["name", f.name],
        ],
        out,
      ),
  },
  "forms.stats": { object: stats },
  "forms.submissions": { columns: submissionColumns, empty: "No sign-ups yet." },
  "landingPages.list": { columns: pageColumns, empty: "No pages yet. Agents create them." },
  "landingPages.get": { object: ofBrand },
  "landingPages.publish": { object: ofBrand },
  "landingPages.unpublish": { object: ofBrand },
  "landingPages.delete": { object: deleted },
  "landingPages.stats": { object: stats },
  "landingPages.submissions": { columns: submissionColumns, empty: "No sign-ups yet." },
  "agent.landingPages.list": {
    columns: pageColumns,
    empty: "No pages yet. Create one: mailsvc agent landing-pages create --help",
  },
  "agent.landingPages.create": { object: written },
  "agent.landingPages.update": { object: written },
  "agent.landingPages.get": { object: ofAgent },
  "agent.landingPages.publish": { object: ofAgent },
  "agent.landingPages.unpublish": { object: ofAgent },
  "agent.landingPages.stats": { object: stats },
  "agent.lists.list": { columns: listColumns, empty: "The brand has no lists." },
};

function form(f: SignUpForm, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", f.id],
      ["name", f.name],
      ["state", f.status],
      ["version", f.version],
      ["list", f.listId],
      ["confirmation", f.doubleOptIn ? "each person by email" : "as the list says"],
      ["goes on to", f.redirectUrl],
      ["fields", ["email", ...f.fields].join(", ")],
      ["agrees to", f.consentText],
      ["created", formatInstant(f.createdAt)],
      ["changed", formatInstant(f.updatedAt)],
      ["url", f.url],
      ["next", `mailsvc forms stats ${f.id}`],
    ],
    out,
    columns,
  );
}

function formatFields(p: LandingPage): readonly (readonly [string, unknown])[] {
  return [
    ["id", p.id],
    ["title", p.title],
    ["state", p.status],
    ["version", p.version],
    ["made by", p.createdBy.agent ? (p.createdBy.activationId ?? "an agent") : "you"],
    ["form", p.hasForm ? "yes" : "no"],
    ["gives out", p.leadMagnetId],
    ["adds to", p.listId],
    ["created", formatInstant(p.createdAt)],
    ["changed", formatInstant(p.updatedAt)],
    ["published", formatInstant(p.publishedAt)],
    ["url", p.url],
    ["preview", p.status === "DRAFT" ? p.previewUrl : ""],
  ];
}

/** The next command, by the state of a page. `words` is the noun of the commands. */
function afterPage({ id, status }: LandingPage, noun: string): string {
  return status === "PUBLISHED" ? `mailsvc ${noun} stats ${id}` : status === "DRAFT" ? `mailsvc ${noun} publish ${id}` : "";
}

function page(noun: string) {
  return (p: LandingPage, { term: { out, columns } }: Session): string =>
    renderDetails([...formatFields(p), ["next", afterPage(p, noun)]], out, columns);
}

function deleted(p: LandingPage, { term: { out } }: Session): string {
  return renderDetails(
    [
      ["deleted", p.id],
      ["title", p.title],
    ],
    out,
  );
}

function written(p: WrittenLandingPage, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ...formatFields(p),
      ["taken out", p.removed.map(({ kind, name, count }) => `${kind} ${name}${count > 1 ? ` × ${count}` : ""}`).join(", ")],
      ["next", afterPage(p, "agent landing-pages")],
    ],
    out,
    columns,
  );
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function stats(s: LandingPageStats, { term: { out, columns } }: Session): string {
  const days = s.byDay.filter((day) => day.views > 0 || day.submissions > 0);
  return [
    renderDetails(
      [
        ["days", `${s.from} to ${s.to}, UTC`],
        ["views", s.views],
        ["visitors", s.uniqueVisitors],
        ["sign-ups", `${s.submissions}, ${percent(s.conversionRate)} of visitors`],
        ["came from", s.topReferrers.map(({ host, views }) => `${host} (${views})`).join(", ")],
      ],
      out,
      columns,
    ),
    ...(days.length === 0
      ? []
      : [
          renderTable(
            days,
            [
              { title: "day", value: (d) => d.date },
              { title: "views", value: (d) => d.views },
              { title: "visitors", value: (d) => d.uniqueVisitors },
              { title: "sign-ups", value: (d) => d.submissions },
            ],
            out,
            columns,
          ),
        ]),
  ].join("\n\n");
}
