import type { ErrorDetail, SegmentRule } from "@mailsvc/sdk/contract";

/** Where rules name lists that are not among those there are. */
export function unknownLists(rules: SegmentRule, known: ReadonlyMap<string, unknown>): ErrorDetail[] {
  const visit = (rule: SegmentRule, path: string): ErrorDetail[] => {
    if ("all" in rule) return rule.all.flatMap((r, i) => visit(r, `${path}.all[${i}]`));
    if ("any" in rule) return rule.any.flatMap((r, i) => visit(r, `${path}.any[${i}]`));
    if ("not" in rule) return visit(rule.not, `${path}.not`);
    if (rule.field !== "lists" || rule.operator === "exists") return [];
    const check = (id: string, at: string): ErrorDetail[] =>
      known.has(id)
        ? []
        : [
            {
              path: at,
              code: "unknown_list",
              message: `There is no list ${JSON.stringify(id.slice(0, 60))} in this workspace; mailsvc lists list shows them.`,
            },
          ];
    return Array.isArray(rule.value)
      ? rule.value.flatMap((id, i) => check(String(id), `${path}.value[${i}]`))
      : check(String(rule.value), `${path}.value`);
  };
  return visit(rules, "rules");
}
