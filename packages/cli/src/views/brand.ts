import type { Brand, BrandSettings, MailsvcContract, Output, Plan, PlanChange } from "@mailsvc/sdk/contract";
import type { Session } from "../session.ts";
import type { View } from "./index.ts";
import { details } from "./table.ts";
import { instant } from "./time.ts";

const changes = ({ paused, resumed, deactivated }: PlanChange): readonly (readonly [string, string])[] => [
  ["lose cover", paused.join(", ")],
  ["get cover back", resumed.join(", ")],
  ["are turned off", deactivated.join(", ")],
];

const preview = (change: PlanChange, { term: { out, columns } }: Session): string =>
  changes(change).some(([, ids]) => ids !== "") ? details(changes(change), out, columns) : out.dim("Nothing would change.");

const plan = (p: Plan & { change?: PlanChange }, { term: { out, columns } }: Session): string =>
  details(
    [
      ["plan", p.plan],
      ["agents", `${p.used} of ${p.covers ?? "any number"}`],
      ["since", instant(p.changedAt)],
      ...(p.change ? changes(p.change) : []),
    ],
    out,
    columns,
  );

const plans = ({ data }: Output<MailsvcContract["plans"]["list"]>, { term: { out, columns } }: Session): string =>
  details(
    data.map((p) => [p.plan, p.summary]),
    out,
    columns,
  );

const given = (values: Readonly<Record<string, string | null>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
    .join(", ");

const brandFacts = (b: Brand): readonly (readonly [string, unknown])[] => [
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

const brandSeen = (b: Brand, { term: { out, columns } }: Session): string => details(brandFacts(b), out, columns);

const brand = (b: BrandSettings, { term: { out, columns } }: Session): string =>
  details([...brandFacts(b), ["pages go out", b.publishNeedsApproval ? "after your yes" : "at once"]], out, columns);

export const brandViews: Readonly<Record<string, View>> = {
  "plans.list": { object: plans },
  "plans.get": { object: plan },
  "plans.preview": { object: preview },
  "plans.change": { object: plan },
  "brand.get": { object: brand },
  "brand.update": { object: brand },
  "agent.brand.get": { object: brandSeen },
};
