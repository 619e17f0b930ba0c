import type { ProviderConnection } from "@mailsvc/sdk/contract";
import { type Column, renderDetails } from "../text/table.ts";
import { formatInstant } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

const columns: Column<ProviderConnection>[] = [
  { title: "id", value: (c) => c.id },
  { title: "provider", value: (c) => c.provider },
  { title: "description", value: (c) => c.description, flexible: true },
  // Whole at any width, because it is copied.
  { title: "url", value: (c) => c.url },
];

export const providerViews: Readonly<Record<string, View>> = {
  "providers.list": { columns, empty: "No connections to mail providers yet. Add one: mailsvc providers add mailgun" },
  "providers.add": { object: one },
  "providers.remove": { object: one },
};

function one(c: ProviderConnection, { term: { out, columns: width } }: Session): string {
  return renderDetails(
    [
      ["id", c.id],
      ["provider", c.provider],
      ["url", c.url],
      ["description", c.description],
      ["created", formatInstant(c.createdAt)],
    ],
    out,
    width,
  );
}
