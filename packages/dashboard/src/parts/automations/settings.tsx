/** @jsxImportSource preact */
import type { AutomationDetail } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Conflict, type Differing } from "../conflict.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Facts } from "../facts.tsx";
import { Field } from "../field.tsx";
import { findMessages, isShownAtFields } from "../field-messages.ts";
import { count as plural } from "../plural.ts";
import { useSending } from "../sending.ts";
import { Time } from "../time.tsx";
import { toast } from "../toast.tsx";
import { useVersions } from "../versions.ts";
import { describeOccurrence, type Names } from "./words.ts";

interface Props {
  readonly automation: AutomationDetail;
  readonly names: Names;
  readonly done: () => void;
}

/** Fields of the form, as typed. */
interface Fields {
  readonly name: string;
  readonly description: string;
  readonly currency: string;
  readonly allowReEntry: boolean;
  readonly hours: string;
}

const NAMES = ["name", "description", "currency", "reEntryDelayHours"];
const DEFAULT_HOURS = 24;

/** Settings of an automation: its purpose, and how often a contact may enter. */
export function AutomationSettings(props: Props) {
  const { automation, names } = props;
  const { id, trigger, goal, version, createdAt, updatedAt } = automation;
  return (
    <div class="flow-columns">
      {may("automations:write") && automation.archivedAt === null ? <SettingsForm {...props} /> : <ReadOnly automation={automation} />}
      <section class="card">
        <h2>Details</h2>
        <Facts
          facts={[
            ["Begins when", describeOccurrence(trigger, names)],
            ["Goal", goal === null ? "none" : describeOccurrence(goal, names)],
            ["Version", version],
            ["Created", <Time key="created" at={createdAt} exactly />],
            ["Changed", <Time key="changed" at={updatedAt} exactly />],
            ["Automation", <code key="id">{id}</code>],
          ]}
        />
        <p class="soft after">Trigger and goal are changed in the editor, with the steps.</p>
      </section>
    </div>
  );
}

function ReadOnly({ automation: { description, allowReEntry, reEntryDelayHours, currency } }: Pick<Props, "automation">) {
  return (
    <section class="card">
      <h2>Settings</h2>
      <Facts
        facts={[
          ["Description", description],
          ["Entering again", allowReEntry ? `after ${plural(reEntryDelayHours ?? DEFAULT_HOURS, "hour")}` : "never"],
          ["Currency", currency],
        ]}
      />
    </section>
  );
}

function SettingsForm({ automation, done }: Props) {
  const { id } = automation;
  const [fields, setFields] = useState(() => toFields(automation));
  const { busy, error, send } = useSending();
  const versions = useVersions({
    newest: automation,
    mine: fields,
    pick: toFields,
    load: () => api.automations.get(id, {}),
    show: (stored) => setFields(toFields(stored)),
  });
  const { theirs } = versions;
  const set = (change: Partial<Fields>): void => setFields((before) => ({ ...before, ...change }));
  const save = async (): Promise<void> => {
    const { name, description, currency, allowReEntry, hours } = fields;
    const again = allowReEntry ? { allowReEntry, reEntryDelayHours: Number(hours) } : { allowReEntry };
    const isSaved = await versions.save(async (revision) => {
      const stored = await api.automations.update(id, {
        name,
        description: description === "" ? null : description,
        currency: currency as "USD",
        ...again,
        revision,
      });
      // Unless something was typed meanwhile.
      setFields((now) => (now === fields ? toFields(stored) : now));
      return stored;
    });
    if (!isSaved) return;
    toast("Saved");
    done();
  };
  return (
    <form
      class="card form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send(save);
      }}
    >
      {theirs === null ? null : (
        <Conflict
          what="automation"
          at={theirs.updatedAt}
          differing={listDiffering(toFields(theirs), fields)}
          takeTheirs={versions.takeTheirs}
          keepMine={versions.keepMine}
        />
      )}
      <Field label="Name" error={findMessages(error, "name")}>
        <input value={fields.name} maxLength={200} onInput={({ currentTarget: { value } }) => set({ name: value })} />
      </Field>
      <Field label="Description" hint="What it is for, for your colleagues." error={findMessages(error, "description")}>
        <textarea
          rows={3}
          maxLength={1000}
          value={fields.description}
          onInput={({ currentTarget: { value } }) => set({ description: value })}
        />
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={fields.allowReEntry}
          onChange={({ currentTarget: { checked } }) => set({ allowReEntry: checked })}
        />{" "}
        A contact may enter again
      </label>
      {fields.allowReEntry ? (
        <Field label="Hours from one entry to the next, at least" error={findMessages(error, "reEntryDelayHours")}>
          <input type="number" min={1} max={8760} value={fields.hours} onInput={({ currentTarget: { value } }) => set({ hours: value })} />
        </Field>
      ) : null}
      <Field
        label="Currency of its revenue"
        hint="Values of your events in others are not counted."
        error={findMessages(error, "currency")}
      >
        <input
          value={fields.currency}
          maxLength={3}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => set({ currency: value.toUpperCase() })}
        />
      </Field>
      {error !== null && !isShownAtFields(error, NAMES) ? <ErrorNote error={error} /> : null}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          Save
        </button>
      </div>
    </form>
  );
}

function listDiffering(theirs: Fields, mine: Fields): Differing[] {
  const again = ({ allowReEntry, hours }: Fields): string => (allowReEntry ? `after ${plural(Number(hours), "hour")}` : "never");
  return [
    { name: "name", theirs: theirs.name, mine: mine.name },
    { name: "description", theirs: theirs.description, mine: mine.description },
    { name: "currency", theirs: theirs.currency, mine: mine.currency },
    { name: "entering again", theirs: again(theirs), mine: again(mine) },
  ].filter((one) => one.theirs !== one.mine);
}

function toFields({ name, description, currency, allowReEntry, reEntryDelayHours }: AutomationDetail): Fields {
  return { name, description: description ?? "", currency, allowReEntry, hours: String(reEntryDelayHours ?? DEFAULT_HOURS) };
}
