/** @jsxImportSource preact */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ColumnTarget } from "../../../../sdk/src/contact-files/columns.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { may } from "../../api/session.ts";
import { toOptions, useGroups } from "../../parts/audience/groups.ts";
import { Loading } from "../../parts/empty.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Field } from "../../parts/field.tsx";
import { formatBytes } from "../../parts/time.tsx";
import { ColumnTable, findColumnFault, SharedFields } from "./column-table.tsx";
import { ENCODINGS, type Encoding } from "./file-text.ts";
import type { ImportPlan } from "./importer.ts";
import { type OpenFile, openFile } from "./opened-file.ts";

/** Choices a person has made about a file. */
export type Decision = Omit<ImportPlan, "id">;

interface Props {
  readonly file: File;
  /** Earlier choices, to be changed. */
  readonly before: Decision | null;
  readonly begin: (decision: Decision) => void;
  readonly other: () => void;
}

/** The first rows of a file, and how it is imported. */
export function Prepare({ file, before, begin, other }: Props) {
  const [open, setOpen] = useState<OpenFile | null>(null);
  const [error, setError] = useState<RequestError | null>(null);
  const [targets, setTargets] = useState<readonly ColumnTarget[]>(before?.targets ?? []);
  const [options, setOptions] = useState<Options>(
    before ?? { mode: "upsert", listId: null, detectTypes: true, startAutomations: false, tag: "" },
  );
  const change = (changed: Partial<Options>): void => setOptions((all) => ({ ...all, ...changed }));
  const looks = useRef(0);
  const look = (given: Parameters<typeof openFile>[1], keep: boolean): void => {
    const at = ++looks.current;
    openFile(file, given).then(
      (found) => {
        if (at !== looks.current) return;
        setOpen(found);
        setError(null);
        if (!keep) setTargets(found.guessed);
      },
      (cause: unknown) => at === looks.current && setError(asRequestError(cause)),
    );
  };
  useEffect(() => look(before === null ? {} : { encoding: before.encoding, hasHeader: before.hasHeader }, before !== null), [file]);
  if (open === null)
    return error === null ? (
      <Loading />
    ) : (
      <div class="scroll">
        <ErrorNote error={error} />
        <div class="buttons">
          <button type="button" onClick={other}>
            Choose another file
          </button>
        </div>
      </div>
    );
  const fault = findColumnFault(open.names, targets);
  const decide = (dryRun: boolean): void => {
    const { sample: _, guessed: __, ...form } = open;
    const { mode, listId, detectTypes, startAutomations, tag } = options;
    begin({ ...form, targets, detectTypes, mode, listId, startAutomations, tag, dryRun });
  };
  return (
    <div class="scroll import">
      <div class="what">
        <p>
          <strong>{file.name}</strong>{" "}
          <span class="soft">
            {formatBytes(file.size)} · {open.format === "csv" ? "CSV" : "NDJSON"}
          </span>
        </p>
        <button type="button" class="link" onClick={other}>
          Choose another file
        </button>
      </div>
      <ColumnTable file={open} targets={targets} change={setTargets} />
      {error === null ? null : <ErrorNote error={error} />}
      {fault === null ? null : (
        <p class="wrong" role="alert">
          {fault}
        </p>
      )}
      <SharedFields names={open.names} targets={targets} />
      <div class="form card options">
        <PeopleFields options={options} change={change} />
        <FileFields file={open} look={(given) => look(given, false)} options={options} change={change} />
      </div>
      <p class="soft">
        An import never subscribes anyone again who unsubscribed, bounced or complained. Until it is done, this browser keeps a copy of the
        file, so that it can go on after the page was closed.
      </p>
      <div class="buttons">
        <button type="button" class="primary" disabled={fault !== null} onClick={() => decide(false)}>
          Import
        </button>
        <button type="button" disabled={fault !== null} onClick={() => decide(true)}>
          Check without storing
        </button>
      </div>
    </div>
  );
}

/** Options for storing people and values. */
type Options = Pick<Decision, "mode" | "listId" | "detectTypes" | "startAutomations" | "tag">;

interface FieldsProps {
  readonly options: Options;
  readonly change: (changed: Partial<Options>) => void;
}

/** Options for the imported people. */
function PeopleFields({ options: { mode, listId, startAutomations, tag }, change }: FieldsProps) {
  const groups = useGroups();
  return (
    <>
      <Field label="People who are contacts already" hint={mode === "upsert" ? "Empty cells leave their fields as they are." : undefined}>
        <select value={mode} onChange={({ currentTarget }) => change({ mode: currentTarget.value === "skip" ? "skip" : "upsert" })}>
          <option value="upsert">get the values of the file</option>
          <option value="skip">stay as they are</option>
        </select>
      </Field>
      {may("lists:write") && (groups.data?.lists.length ?? 0) > 0 ? (
        <Field label="Add everybody to a list" hint="A list with double opt-in asks each person by email first.">
          <select value={listId ?? ""} onChange={({ currentTarget }) => change({ listId: currentTarget.value || null })}>
            <option value="">no list</option>
            {toOptions(groups.data?.lists ?? []).map(({ value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
      ) : null}
      <Field label="Tag for everybody" hint={tag === null ? undefined : "Without a name: import: with the day and a number."}>
        <input
          value={tag ?? ""}
          disabled={tag === null}
          maxLength={100}
          spellcheck={false}
          onInput={({ currentTarget }) => change({ tag: currentTarget.value })}
        />
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={tag === null}
          onChange={({ currentTarget }) => change({ tag: currentTarget.checked ? null : "" })}
        />
        Tag nobody
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={startAutomations}
          onChange={({ currentTarget }) => change({ startAutomations: currentTarget.checked })}
        />
        Start automations for these people
      </label>
    </>
  );
}

interface FileFieldsProps extends FieldsProps {
  readonly file: OpenFile;
  /** Reads the file in another way. */
  readonly look: (given: Pick<OpenFile, "encoding" | "hasHeader">) => void;
}

/** Options for reading the file. */
function FileFields({ file: { encoding, hasHeader, format }, look, options: { detectTypes }, change }: FileFieldsProps) {
  return (
    <>
      <Field label="Encoding" hint="If names read wrong above, choose another one.">
        <select value={encoding} onChange={({ currentTarget }) => look({ encoding: currentTarget.value as Encoding, hasHeader })}>
          {Object.entries(ENCODINGS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
      {format === "csv" ? (
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={hasHeader}
              onChange={({ currentTarget }) => look({ encoding, hasHeader: currentTarget.checked })}
            />
            The first line names the columns
          </label>
          <label class="check">
            <input type="checkbox" checked={detectTypes} onChange={({ currentTarget }) => change({ detectTypes: currentTarget.checked })} />
            Store numbers, dates, true and false in custom fields as such, not as text
          </label>
        </>
      ) : null}
    </>
  );
}
