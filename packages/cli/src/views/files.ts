import type { Asset, LandingPage, LandingPageSummary, LeadMagnet } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { type Column, details } from "./table.ts";
import { bytes, stamp } from "./time.ts";

const assetColumns: Column<Asset>[] = [
  { title: "id", value: (a) => a.id },
  { title: "file", value: (a) => a.fileName, flexible: true },
  { title: "pixels", value: (a) => `${a.width}x${a.height}` },
  { title: "size", value: (a) => bytes(a.size) },
  { title: "shows", value: (a) => a.alt, flexible: true },
  { title: "saved (utc)", value: (a) => stamp(a.createdAt) },
];

const asset = (a: Asset, { term: { out } }: Session): string =>
  details(
    [
      ["id", a.id],
      ["file", a.fileName],
      ["type", a.contentType],
      ["pixels", `${a.width} x ${a.height}`],
      ["size", bytes(a.size)],
      ["shows", a.alt],
      ["tags", a.tags.join(", ")],
      ["your name", a.externalId],
      ["url", a.url],
      ["saved", stamp(a.createdAt)],
    ],
    out,
  );

const magnetColumns: Column<LeadMagnet>[] = [
  { title: "id", value: (m) => m.id },
  { title: "title", value: (m) => m.title, flexible: true },
  { title: "file", value: (m) => m.fileName, flexible: true },
  { title: "size", value: (m) => bytes(m.size) },
  { title: "uploaded (utc)", value: (m) => stamp(m.createdAt) },
];

const magnet = (m: LeadMagnet, { term: { out, columns } }: Session): string =>
  details(
    [
      ["id", m.id],
      ["title", m.title],
      ["about", m.description],
      ["file", m.fileName],
      ["type", m.contentType],
      ["size", bytes(m.size)],
      ["uploaded", stamp(m.createdAt)],
      ["link of one hour", m.downloadUrl],
    ],
    out,
    columns,
  );

const pageColumns: Column<LandingPageSummary>[] = [
  { title: "id", value: (p) => p.id },
  { title: "title", value: (p) => p.title, flexible: true },
  { title: "state", value: (p) => p.status, paint: (style, text) => (text === "PUBLISHED" ? style.green(text) : style.yellow(text)) },
  { title: "form", value: (p) => (p.hasForm ? "yes" : "no") },
  { title: "changed (utc)", value: (p) => stamp(p.updatedAt) },
];

const page = (p: LandingPage, { term: { out, columns } }: Session): string =>
  details(
    [
      ["id", p.id],
      ["title", p.title],
      ["state", p.status],
      ["version", p.version],
      ["made by", p.createdBy.agent ? (p.createdBy.activationId ?? "an agent") : "you"],
      ["form", p.hasForm ? "yes" : "no"],
      ["gives out", p.leadMagnetId],
      ["adds to", p.listId],
      ["created", stamp(p.createdAt)],
      ["changed", stamp(p.updatedAt)],
      ["published", stamp(p.publishedAt)],
      ["url", p.url],
      ["preview", p.status === "PUBLISHED" ? "" : p.previewUrl],
    ],
    out,
    columns,
  );

export const fileViews: Readonly<Record<string, View>> = {
  "assets.list": { columns: assetColumns },
  "assets.create": { object: asset },
  "assets.get": { object: asset },
  "assets.delete": { object: asset },
  "agent.assets.create": { object: asset },
  "leadMagnets.list": { columns: magnetColumns },
  "leadMagnets.create": { object: magnet },
  "leadMagnets.get": { object: magnet },
  "leadMagnets.delete": { object: magnet },
  "agent.leadMagnets.create": { object: magnet },
  "agent.leadMagnets.update": { object: magnet },
  "landingPages.list": { columns: pageColumns },
  "landingPages.get": { object: page },
  "agent.landingPages.list": { columns: pageColumns },
};
