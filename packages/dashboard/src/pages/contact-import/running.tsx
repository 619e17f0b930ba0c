/** @jsxImportSource preact */
import { formatReject, formatRejectsHeader, type Reject } from "../../../../sdk/src/contact-files/reject-lines.ts";
import { download } from "../../parts/download.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { count, formatCount } from "../../parts/plural.ts";
import { Progress } from "../../parts/progress.tsx";
import { toHref } from "../../router.tsx";
import type { Importer } from "./importer.ts";
import { UndoImport } from "./undo.tsx";

interface Props {
  readonly importer: Importer;
  /** Ends looking at it: the kept file and errors are deleted. */
  readonly close: () => void;
  /** After a check: import it. */
  readonly proceed: () => void;
}

/** An import while it runs, when it was stopped, and when it is done. */
export function Running({ importer, close, proceed }: Props) {
  const { file, plan } = importer;
  const state = importer.state.value;
  const error = importer.error.value;
  const { rows, bytes, failed } = importer.progress.value;
  const share = file.size === 0 ? 1 : bytes / file.size;
  const title =
    state === "done"
      ? plan.dryRun
        ? `${file.name} was checked; nothing was stored`
        : `${file.name} is imported`
      : state === "running"
        ? `${plan.dryRun ? "Checking" : "Importing"} ${file.name}`
        : `${file.name} is not finished`;
  return (
    <div class="scroll wide-form">
      <section class={`card summary ${state === "done" ? (failed === 0 ? "good" : "warn") : state === "running" ? "busy" : "warn"}`}>
        <h2>{title}</h2>
        {state === "done" ? null : (
          <Progress label="Progress of the import" value={share} text={`${Math.floor(share * 100)} % · ${count(rows, "row")}`} />
        )}
        <div class="buttons">
          {state === "running" ? (
            <button type="button" onClick={() => importer.stop()}>
              Stop
            </button>
          ) : null}
          {state === "stopped" ? (
            <>
              <button type="button" class="primary" onClick={() => void importer.run()}>
                Resume
              </button>
              <button type="button" onClick={close}>
                Discard
              </button>
              <span class="soft">{plan.dryRun ? "" : "What was imported stays."}</span>
            </>
          ) : null}
          {state === "done" ? (
            <>
              {plan.dryRun ? (
                <button type="button" class="primary" onClick={proceed}>
                  Import it now
                </button>
              ) : (
                <a class="button primary" href={toHref(plan.listId === null ? "/contacts" : `/lists/${plan.listId}`)}>
                  {plan.listId === null ? "Show the contacts" : "Show the list"}
                </a>
              )}
              <button type="button" onClick={close}>
                {plan.dryRun ? "Change the columns" : "Import another file"}
              </button>
            </>
          ) : null}
        </div>
      </section>
      {error === null ? null : <ErrorNote title="The import stopped" error={error} />}
      <Counts importer={importer} />
      <Starts importer={importer} />
      {importer.record.value === null || state === "running" ? null : <UndoImport record={importer.record.value} />}
      <Rejects importer={importer} />
    </div>
  );
}

function Starts({ importer: { automations, plan } }: { readonly importer: Importer }) {
  return (
    <>
      {automations.value.map(({ id, name, contacts }) => (
        <p key={id} class="soft">
          {count(contacts, "person", "people")} {plan.startAutomations && !plan.dryRun ? "entered" : "would enter"} “{name}”
          {plan.startAutomations ? "" : " if automations were started"}.
        </p>
      ))}
    </>
  );
}

function Counts({ importer }: { readonly importer: Importer }) {
  const { rows, failed, counts } = importer.progress.value;
  const { created = 0, updated = 0, unchanged = 0, skipped = 0, suppressed = 0, joined = 0, asked = 0 } = counts;
  const { optedOut = 0, neverAgreed = 0 } = counts;
  const would = importer.plan.dryRun ? "Would be " : "";
  const name = (text: string): string => (would === "" ? text : `${would}${text.toLowerCase()}`);
  const figures: readonly (readonly [string, number, string?])[] = [
    ["Rows", rows],
    [name("Created"), created],
    [name("Updated"), updated],
    ["Unchanged", unchanged],
    ...(skipped > 0 ? [["Skipped", skipped] as const] : []),
    ...(joined > 0 ? [["Joined the list", joined] as const] : []),
    ...(asked > 0 ? [["Asked to confirm", asked] as const] : []),
    ["Failed", failed, failed > 0 ? "bad" : ""],
  ];
  return (
    <>
      <dl class="figures">
        {figures.map(([text, n, tone = ""]) => (
          <div key={text} class={tone}>
            <dt>{text}</dt>
            <dd>{formatCount(n)}</dd>
          </div>
        ))}
      </dl>
      {optedOut > 0 ? <p class="soft">{count(optedOut, "person", "people")} opted out, and get no marketing.</p> : null}
      {neverAgreed > 0 ? (
        <p class="soft">
          {count(neverAgreed, "person", "people")} never agreed, because the cell for opt-in is empty. New contacts of them are not
          subscribed.
        </p>
      ) : null}
      {suppressed > 0 ? (
        <p class="soft">
          {count(suppressed, "new contact is suppressed and gets", "new contacts are suppressed and get")} no marketing: their addresses
          bounced, complained or unsubscribed before.
        </p>
      ) : null}
    </>
  );
}

// Shown in the page; the file has them all.
const SHOWN = 50;

function Rejects({ importer }: { readonly importer: Importer }) {
  const { file, plan } = importer;
  const rejects = importer.rejects.value;
  const { failed } = importer.progress.value;
  if (failed === 0) return null;
  const save = (): void => {
    const name = file.name.replace(/(\.\w+)?$/, (end) => `-failed${end || ".csv"}`);
    const type = plan.format === "csv" ? "text/csv;charset=utf-8" : "application/x-ndjson";
    download(name, [formatRejectsHeader(plan), ...rejects.map((one) => formatReject(plan, one))], type);
  };
  return (
    <section class="card">
      <div class="what">
        <h2>{count(failed, "row")} failed</h2>
        <button type="button" onClick={save}>
          Download the rows that failed
        </button>
      </div>
      <p class="soft">
        The file has each row with its reason: correct it and import it again.
        {rejects.length < failed ? ` It has the first ${formatCount(rejects.length)}.` : ""}
      </p>
      <ul class="items">
        {rejects.slice(0, SHOWN).map((one) => (
          <RejectItem key={one.line} reject={one} />
        ))}
      </ul>
      {failed > SHOWN ? <p class="soft">and {count(failed - SHOWN, "more", "more")}</p> : null}
    </section>
  );
}

function RejectItem({ reject: { line, faults } }: { readonly reject: Reject }) {
  return (
    <li>
      {faults.map(({ column, message }, i) => (
        <p key={i}>
          <strong>{i === 0 ? `Line ${line}` : ""}</strong>
          {column === "" ? "" : `, ${column}`}: {message}
        </p>
      ))}
    </li>
  );
}
