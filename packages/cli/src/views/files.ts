import type { Asset, LeadMagnet } from "@mailsvc/sdk/contract";
import { type Column, renderDetails } from "../text/table.ts";
import { formatBytes, formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

const assetColumns: Column<Asset>[] = [
  { title: "id", value: (a) => a.id },
  { title: "file", value: (a) => a.fileName, flexible: true },
  { title: "pixels", value: (a) => `${a.width}x${a.height}`, priority: 2 },
  { title: "size", value: (a) => formatBytes(a.size), priority: 1 },
  { title: "shows", value: (a) => a.alt, flexible: true, priority: 4 },
  { title: "saved (utc)", value: (a) => formatTimestamp(a.createdAt), priority: 3 },
];

const magnetColumns: Column<LeadMagnet>[] = [
  { title: "id", value: (m) => m.id },
  { title: "title", value: (m) => m.title, flexible: true },
  { title: "file", value: (m) => m.fileName, flexible: true, priority: 3 },
  { title: "size", value: (m) => formatBytes(m.size), priority: 1 },
  { title: "uploaded (utc)", value: (m) => formatTimestamp(m.createdAt), priority: 2 },
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
  return renderDetails(
    [
      ["id", a.id],
      ["file", a.fileName],
      ["type", a.contentType],
      ["pixels", `${a.width} x ${a.height}`],
      ["size", formatBytes(a.size)],
      ["shows", a.alt],
      ["tags", a.tags.join(", ")],
      ["your name", a.externalId],
      ["url", a.url],
      ["saved", formatInstant(a.createdAt)],
    ],
    out,
    columns,
  );
}

function magnet(m: LeadMagnet, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["id", m.id],
      ["title", m.title],
      ["about", m.description],
      ["file", m.fileName],
      ["type", m.contentType],
      ["size", formatBytes(m.size)],
      ["uploaded", formatInstant(m.createdAt)],
      ["link of one hour", m.downloadUrl],
    ],
    out,
    columns,
  );
}
