import type { Brand, BrandSettings, MailsvcContract, Output, Plan, PlanChange } from "@mailsvc/sdk/contract";
import { renderDetails } from "../text/table.ts";
import { formatInstant } from "../text/units.ts";
import type { Session } from "../types.ts";
import type { View } from "./view.ts";

export const brandViews: Readonly<Record<string, View>> = {
  "plans.list": { object: plans },
  "plans.get": { object: plan },
  "plans.preview": { object: preview },
  "plans.change": { object: plan },
  "brand.get": { object: brand },
  "brand.update": { object: brand },
  "agent.brand.get": { object: formatAgentBrand },
};

function changes({ paused, resumed, deactivated }: PlanChange): readonly (readonly [string, string])[] {
  return [
    ["lose cover", paused.join(", ")],
    ["get cover back", resumed.join(", ")],
    ["are turned off", deactivated.join(", ")],
  ];
}

function preview(change: PlanChange, { term: { out, columns } }: Session): string {
  return changes(change).some(([, ids]) => ids !== "") ? renderDetails(changes(change), out, columns) : out.dim("No changes.");
}

function plan(p: Plan & { change?: PlanChange }, { term: { out, columns } }: Session): string {
  return renderDetails(
    [
      ["plan", p.plan],
      ["agents", `${p.used} of ${p.covers ?? "any number"}`],
      ["since", formatInstant(p.changedAt)],
      ...(p.change ? changes(p.change) : []),
    ],
    out,
    columns,
  );
}

function plans({ data }: Output<MailsvcContract["plans"]["list"]>, { term: { out, columns } }: Session): string {
  return renderDetails(
    data.map((p) => [p.plan, p.summary]),
    out,
    columns,
  );
}

function given(values: Readonly<Record<string, string | null>>): string {
  return Object.entries(values)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
    .join(", ");
}

function formatBrand(b: Brand): readonly (readonly [string, unknown])[] {
  return [
    ["name", b.name],
    ["website", b.website],
    ["logo", b.logo?.url],
    ["colors", given(b.colors)],
    ["fonts", given(b.fonts)],
    ["tone", b.voice.tone.join(", ")],
    ["voice", b.voice.description],
    ["do", b.voice.dos.join("; ")],
    ["do not", b.voice.donts.join("; ")],
    ["locale", `${b.locale}, ${b.timezone}`],
  ];
}

function formatAgentBrand(b: Brand, { term: { out, columns } }: Session): string {
  return renderDetails(formatBrand(b), out, columns);
}

function brand(b: BrandSettings, { term: { out, columns } }: Session): string {
  return renderDetails([...formatBrand(b), ["pages go out", b.publishNeedsApproval ? "after your yes" : "at once"]], out, columns);
}
