/** @jsxImportSource preact */
import type { EventCondition, RuleOperator } from "@mailsvc/sdk/contract";
import { detailsOf, propertyName, RULE_LIMITS, RULE_OPERATORS } from "@mailsvc/sdk/contract/facts";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { useResource } from "../resource.ts";
import type { Known } from "./rule-builder.tsx";
import type { ConditionNode } from "./tree.ts";
import { Choose, Duration, ValueInput } from "./value-input.tsx";
import { changeFact, type Details, joinFacts, listFacts } from "./values.ts";
import { operatorWords } from "./words.ts";

interface Props {
  readonly node: ConditionNode;
  readonly known: Known;
  readonly set: (details: Details) => void;
}

// Campaigns and templates to choose from: the newest ones. Others are named in the JSON.
const NEWEST = 100;

const PROPERTIES = "properties.";

/** Choice of what a condition on what people did counts: since when, of which mail, with which facts. */
export function RuleDetails({ node, known, set }: Props) {
  const { field, details } = node;
  const { within } = details;
  const parts = detailsOf(field);
  const change = (part: Partial<Details>): void => set({ ...details, ...part });
  return (
    <>
      <select
        aria-label="Time"
        value={within === undefined ? "ever" : "within"}
        onChange={({ currentTarget }) => change({ within: currentTarget.value === "ever" ? undefined : "30d" })}
      >
        <option value="ever">at any time</option>
        <option value="within">within the last</option>
      </select>
      {within === undefined ? null : (
        <Duration label="Duration" value={within} wrong={false} set={(next) => change({ within: String(next) })} />
      )}
      {parts.includes("campaign") ? <MailChoice details={details} change={change} /> : null}
      {parts.includes("where") ? <Facts node={node} known={known} change={change} /> : null}
    </>
  );
}

interface PartProps {
  readonly details: Details;
  readonly change: (part: Partial<Details>) => void;
}

function MailChoice({ details: { campaign, template }, change }: PartProps) {
  const mail = useResource(async (signal) => {
    const page = { limit: NEWEST };
    const [campaigns, templates] = await Promise.all([
      may("campaigns:read") ? api.campaigns.list(page, { signal }).then(({ data }) => data) : [],
      may("templates:read") ? api.templates.list(page, { signal }).then(({ data }) => data) : [],
    ]);
    return {
      campaigns: campaigns.map(({ id, name }) => ({ value: id, text: name })),
      templates: templates.map(({ slug, name }) => ({ value: slug, text: name })),
    };
  }, []);
  const of = campaign !== undefined ? "campaign" : template !== undefined ? "template" : "any";
  return (
    <>
      <select
        aria-label="Which mail"
        value={of}
        onChange={({ currentTarget: { value } }) =>
          change({ campaign: value === "campaign" ? "" : undefined, template: value === "template" ? "" : undefined })
        }
      >
        <option value="any">of any mail</option>
        <option value="campaign">of the campaign</option>
        <option value="template">of the template</option>
      </select>
      {campaign === undefined ? null : (
        <Choose
          label="Campaign"
          value={campaign}
          wrong={false}
          choices={mail.data?.campaigns ?? []}
          set={(next) => change({ campaign: String(next) })}
        />
      )}
      {template === undefined ? null : (
        <Choose
          label="Template"
          value={template}
          wrong={false}
          choices={mail.data?.templates ?? []}
          set={(next) => change({ template: String(next) })}
        />
      )}
    </>
  );
}

/** The facts that an event must have to be counted. */
function Facts({ node: { field, details }, known, change }: Pick<Props, "node" | "known"> & Pick<PartProps, "change">) {
  const facts = details.where === undefined ? [] : listFacts(details.where);
  if (facts === null) return <p class="soft">Only events that match the rule in its JSON.</p>;
  const replace = (at: number, next: EventCondition | null): void =>
    change({ where: joinFacts(facts.flatMap((fact, i) => (i === at ? (next ?? []) : fact))) });
  const first: EventCondition =
    field === "clicked" ? { field: "url", operator: "contains", value: "" } : { field: "value", operator: "gte", value: undefined };
  return (
    <>
      {facts.map((fact, i) => (
        <Fact key={i} field={field} fact={fact} known={known} set={(next) => replace(i, next)} />
      ))}
      <button type="button" class="quiet" onClick={() => change({ where: joinFacts([...facts, first]) })}>
        {field === "clicked" ? "Only some links" : "Only some events"}
      </button>
    </>
  );
}

interface FactProps {
  readonly field: string;
  readonly fact: EventCondition;
  readonly known: Known;
  readonly set: (fact: EventCondition | null) => void;
}

function Fact({ field, fact, known, set }: FactProps) {
  const property = propertyName(fact.field);
  const choices = RULE_OPERATORS.fact.flatMap((one: RuleOperator) =>
    one === "exists"
      ? [true, false].map((is) => ({ choice: `exists ${is}`, text: operatorWords("fact", one, is) }))
      : [{ choice: one, text: operatorWords("fact", one, fact.value) }],
  );
  const choose = (choice: string): void => {
    const [name, is] = choice.split(" ");
    const next = changeFact(fact, { operator: name as RuleOperator });
    set(is === undefined ? next : { ...next, value: is === "true" });
  };
  return (
    <fieldset class="rule-fact" aria-label="Only those">
      <span>whose</span>
      {field === "clicked" ? (
        <span>link</span>
      ) : (
        <select
          aria-label="Fact"
          value={property === null ? fact.field : PROPERTIES}
          onChange={({ currentTarget }) => set(changeFact(fact, { field: currentTarget.value as EventCondition["field"] }))}
        >
          <option value="value">value</option>
          <option value="currency">currency</option>
          <option value={PROPERTIES}>property…</option>
        </select>
      )}
      {property === null ? null : (
        <input
          aria-label="Name of the property"
          placeholder="plan"
          value={property}
          maxLength={RULE_LIMITS.fieldName}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => set({ ...fact, field: `${PROPERTIES}${currentTarget.value}` as EventCondition["field"] })}
        />
      )}
      <select
        aria-label="Operator of the fact"
        value={fact.operator === "exists" ? `exists ${fact.value !== false}` : fact.operator}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {choices.map(({ choice, text }) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
      <ValueInput node={{ ...fact, value: fact.value }} kind="fact" known={known} wrong={false} set={(value) => set({ ...fact, value })} />
      <button type="button" class="quiet remove" aria-label="Remove the fact" onClick={() => set(null)}>
        ×
      </button>
    </fieldset>
  );
}
