import type { Asset, LeadMagnet } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { type Column, details } from "./table.ts";
import { bytes, instant, stamp } from "./time.ts";

const assetColumns: Column<Asset>[] = [
  { title: "id", value: (a) => a.id },
  { title: "file", value: (a) => a.fileName, flexible: true },
  { title: "pixels", value: (a) => `${a.width}x${a.height}`, spare: 2 },
  { title: "size", value: (a) => bytes(a.size), spare: 1 },
  { title: "shows", value: (a) => a.alt, flexible: true, spare: 4 },
  { title: "saved (utc)", value: (a) => stamp(a.createdAt), spare: 3 },
];

const magnetColumns: Column<LeadMagnet>[] = [
  { title: "id", value: (m) => m.id },
  { title: "title", value: (m) => m.title, flexible: true },
  { title: "file", value: (m) => m.fileName, flexible: true, spare: 3 },
  { title: "size", value: (m) => bytes(m.size), spare: 1 },
  { title: "uploaded (utc)", value: (m) => stamp(m.createdAt), spare: 2 },
];

export const fileViews: Readonly<Record<string, View>> = {
  "assets.list": { columns: assetColumns, empty: "No images yet. Upload one: mailsvc assets create --help" },
  "assets.create": { object: asset },
  "assets.get": { object: asset },
  "assets.delete": { object: asset },
  "agent.assets.create": { object: asset },
  "leadMagnets.list": { columns: magnetColumns, empty: "No files yet. Upload one: mailsvc lead-magnets create --help" },
  "leadMagnets.create": { object: magnet },
  "leadMagnets.get": { object: magnet },
  "leadMagnets.delete": { object: magnet },
  "agent.leadMagnets.create": { object: magnet },
  "agent.leadMagnets.update": { object: magnet },
};

function asset(a: Asset, { term: { out, columns } }: Session): string {
  return details(
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
      ["saved", instant(a.createdAt)],
    ],
    out,
    columns,
  );
}

function magnet(m: LeadMagnet, { term: { out, columns } }: Session): string {
  return details(
    [
      ["id", m.id],
      ["title", m.title],
      ["about", m.description],
      ["file", m.fileName],
      ["type", m.contentType],
      ["size", bytes(m.size)],
      ["uploaded", instant(m.createdAt)],
      ["link of one hour", m.downloadUrl],
    ],
    out,
    columns,
  );
}
