/** @jsxImportSource preact */
import type { List } from "@mailsvc/sdk/contract";
import { useRef, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { may } from "../../api/session.ts";
import { ConfirmButton } from "../confirm-button.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { count, formatCount, formatMinimum } from "../plural.ts";
import { Progress } from "../progress.tsx";
import { toast } from "../toast.tsx";
import { actOnAll, addTag, addToList, type ContactFilters, deleteAll, listBatches, removeTag, type Tally, toBatches } from "./bulk.ts";
import { toOptions } from "./groups.ts";
import type { Selection } from "./selection.ts";

interface Props {
  readonly selection: Selection;
  readonly filters: ContactFilters;
  /** Number of contacts that match the filters. */
  readonly total: number;
  readonly isMinimum: boolean;
  readonly lists: readonly List[];
  readonly done: () => void;
}

interface Running {
  readonly what: string;
  readonly of: number | null;
  readonly done: number;
}

/** Actions for the chosen contacts, and their progress. */
export function BulkBar({ selection, filters, total, isMinimum, lists, done }: Props) {
  const [running, setRunning] = useState<Running | null>(null);
  const [error, setError] = useState<RequestError | null>(null);
  const over = useRef(new AbortController());
  const n = selection.all ? total : selection.chosen.size;
  const run = async (what: string, act: Parameters<typeof actOnAll>[1], past: (changed: number) => string): Promise<void> => {
    const { signal } = over.current;
    setError(null);
    setRunning({ what, of: selection.all && isMinimum ? null : n, done: 0 });
    try {
      const batches = selection.all ? listBatches(filters, signal) : toBatches([...selection.chosen.values()]);
      const tally = await actOnAll(batches, act, signal, ({ done: so }) => setRunning((now) => now && { ...now, done: so }));
      say(tally, past);
      selection.clear();
    } catch (cause) {
      if (!signal.aborted) setError(asRequestError(cause));
    } finally {
      setRunning(null);
      over.current = new AbortController();
      done();
    }
  };
  if (running !== null) return <RunningBar running={running} stop={() => over.current.abort()} />;
  if (n === 0) return error === null ? null : <ErrorNote error={error} />;
  const { signal } = over.current;
  return (
    <div class="bulk" role="region" aria-label="Chosen contacts">
      <strong>{formatMinimum(n, selection.all && isMinimum)} chosen</strong>
      <BulkForm
        label="Add a tag"
        title={`Add a tag to ${count(n, "contact")}`}
        submit="Add"
        act={(values) =>
          void run("Adding the tag", addTag(values.text("tag"), values.has("start"), signal), (k) => `${count(k, "contact")} got the tag`)
        }
      >
        <TagField />
      </BulkForm>
      <BulkForm
        label="Remove a tag"
        title={`Remove a tag from ${count(n, "contact")}`}
        submit="Remove"
        act={(values) =>
          void run(
            "Removing the tag",
            removeTag(values.text("tag"), values.has("start"), signal),
            (k) => `${count(k, "contact")} lost the tag`,
          )
        }
      >
        <TagField />
      </BulkForm>
      {may("lists:write") && lists.length > 0 ? (
        <BulkForm
          label="Add to a list"
          title={`Add ${count(n, "contact")} to a list`}
          submit="Add"
          act={(values) =>
            void run(
              "Adding to the list",
              addToList(values.text("list"), values.has("start"), signal),
              (k) => `${count(k, "contact")} added`,
            )
          }
        >
          <ListField lists={lists} />
        </BulkForm>
      ) : null}
      <ConfirmButton
        label="Delete"
        question={selection.all && isMinimum ? `Delete ${formatMinimum(n, true)} contacts?` : `Delete ${count(n, "contact")}?`}
        danger
        {...(n >= MANY && { retype: String(n) })}
        act={async () => void run("Deleting", deleteAll(signal), (k) => `${count(k, "contact")} deleted`)}
      >
        <p>
          Their fields, tags and memberships go, and cannot be brought back. Suppressed addresses stay suppressed, and the mails that were
          sent stay in the activity.
        </p>
      </ConfirmButton>
      {selection.all ? null : (
        <button type="button" class="link" onClick={selection.chooseAll}>
          Choose all {formatMinimum(total, isMinimum)}
        </button>
      )}
      <button type="button" class="link" onClick={selection.clear}>
        Choose none
      </button>
      {error === null ? null : <ErrorNote title="It was not done for all" error={error} />}
    </div>
  );
}

// From so many on, the number is typed before they are deleted.
const MANY = 1000;

/** Progress of the work, with a button to stop it. */
function RunningBar({ running: { what, of, done }, stop }: { readonly running: Running; readonly stop: () => void }) {
  const text = `${what}: ${formatCount(done)}${of === null ? "" : ` of ${formatCount(of)}`}`;
  return (
    <div class="bulk">
      <Progress label={what} value={of === null ? null : done / Math.max(1, of)} text={text} />
      <button type="button" onClick={stop}>
        Stop
      </button>
    </div>
  );
}

interface BulkFormProps extends Omit<Parameters<typeof FormButton>[0], "act"> {
  /** Begins the work, which goes on after the form has closed. */
  readonly act: (values: FormValues) => void;
}

/** A button whose form asks what to do with the chosen contacts, and whether it starts automations for them. */
function BulkForm({ act, children, ...props }: BulkFormProps) {
  return (
    <FormButton {...props} act={async (values) => act(values)}>
      {children}
      <label class="check">
        <input type="checkbox" name="start" />
        Start automations for them
      </label>
    </FormButton>
  );
}

function TagField() {
  return (
    <Field label="Tag">
      <input name="tag" required maxLength={100} placeholder="vip" autocomplete="off" />
    </Field>
  );
}

function ListField({ lists }: { readonly lists: readonly List[] }) {
  const [chosen, choose] = useState(toOptions(lists)[0]?.value ?? "");
  const doubleOptIn = lists.find(({ id }) => id === chosen)?.doubleOptIn ?? false;
  return (
    <Field label="List" hint={doubleOptIn ? "Each gets an email that asks to confirm, and becomes a member then." : undefined}>
      <select name="list" value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {toOptions(lists).map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

function say({ done, unchanged, failed }: Tally, past: (changed: number) => string): void {
  const changed = done - unchanged - failed.length;
  const same = unchanged > 0 ? `, ${formatCount(unchanged)} unchanged` : "";
  const [first] = failed;
  if (first === undefined) toast(`${past(changed)}${same}`);
  else toast(`${past(changed)}${same}, ${formatCount(failed.length)} not: ${first.contact}: ${first.message}`, { bad: true });
}
